import { useQuery } from '@tanstack/react-query'
import { type Advice, readAdvice } from '../../api/findings'
import { asProblem } from '../../api/problem'
import type { Finding } from '../../api/shapes'
import { useSelection } from '../../state/address'
import { useLanguage } from '../../state/language'
import { FINDINGS, useRun } from '../../state/runs'

export interface Found {
  /** False where the server has no findings to offer. */
  readonly offered: boolean
  readonly findings: readonly Finding[]
  readonly notRecorded: Advice['not_recorded']
  readonly waiting: boolean
  readonly error: unknown
}

/** What a run lacks in the language of the page: the list beside the findings begins with the same, translated. */
export function useTranslated(run: string, missing: Advice['not_recorded']): Advice['not_recorded'] {
  const { notRecorded } = useFindings(run)
  return missing.map((row, at) => notRecorded[at] ?? row)
}

/** Findings of the run that is shown, those that save most first. */
export function useFindings(run: string | null): Found {
  const { rank } = useSelection()
  const { language } = useLanguage()
  const status = useRun(run ?? '', run !== null).data?.status
  const query = useQuery({ queryKey: [FINDINGS, run, rank, language], queryFn: () => readAdvice(run!, rank, language), enabled: run !== null && status === 'ready' })
  const missing = query.error !== null && asProblem(query.error).missing
  return {
    offered: run !== null && status === 'ready' && !missing,
    findings: query.data?.findings ?? [],
    notRecorded: query.data?.not_recorded ?? [],
    waiting: query.isPending,
    error: missing ? null : query.error,
  }
}
