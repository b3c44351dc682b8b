import { problemOf } from './problem'
import { glued } from '../lib/units'
import type { Finding, Report } from './shapes'

export interface Advice {
  readonly findings: readonly Finding[]
  readonly not_recorded: Report['not_recorded']
}

/** Not every server offers findings: this route is asked for by hand, and answers 404 where there are none. */
export async function readAdvice(run: string, rank: number | null, language: string): Promise<Advice> {
  const query = new URLSearchParams({ lang: language, ...(rank === null ? {} : { rank: String(rank) }) })
  const response = await fetch(`/api/runs/${encodeURIComponent(run)}/advise?${query}`)
  if (!response.ok) throw await problemOf(response)
  const advice = (await response.json()) as Advice
  const findings = advice.findings.map((each) => ({ ...each, title: glued(each.title) }))
  return { ...advice, findings: findings.toSorted((a, b) => (b.saving_ns_per_step ?? 0) - (a.saving_ns_per_step ?? 0)) }
}
