/** Findings of a run, and what it lacks, in the language of the page. */
import { useQuery } from '@tanstack/react-query'
import { type Advice, readAdvice } from '../api/findings'
import { asProblem } from '../api/problem'
import type { Finding } from '../api/shapes'
import { useSelection } from './address'
import { useLanguage } from './language'
import { FINDINGS, useRun } from './runs'

type Missing = Advice['not_recorded'][number]

const NOTHING: readonly never[] = []

export interface Found {
  /** False where the server has no findings to offer. */
  readonly offered: boolean
  readonly findings: readonly Finding[]
  readonly notRecorded: readonly Missing[]
  readonly waiting: boolean
  readonly error: unknown
}

/** What a run lacks in the language of the page. */
export function useTranslated(run: string, missing: readonly Missing[]): readonly Missing[] {
  const told = useTranslations(run)
  return missing.map((row, at) => told[at] ?? row)
}

/** What a run lacks, translated, in the order of its report: advice of the whole run begins with the same. None in English, as reports are. */
export function useTranslations(run: string | null): readonly Missing[] {
  const { language } = useLanguage()
  return useAdvice(language === 'en' ? null : run, null).data?.not_recorded ?? NOTHING
}

/** Findings of the run that is shown, those that save most first. */
export function useFindings(run: string | null): Found {
  const { rank } = useSelection()
  const status = useRun(run ?? '', run !== null).data?.status
  const query = useAdvice(run, rank)
  const missing = query.error !== null && asProblem(query.error).missing
  return {
    offered: run !== null && status === 'ready' && !missing,
    findings: query.data?.findings ?? NOTHING,
    notRecorded: query.data?.not_recorded ?? NOTHING,
    waiting: query.isPending,
    error: missing ? null : query.error,
  }
}

function useAdvice(run: string | null, rank: number | null) {
  const { language } = useLanguage()
  const status = useRun(run ?? '', run !== null).data?.status
  return useQuery({ queryKey: [FINDINGS, run, rank, language], queryFn: () => readAdvice(run!, rank, language), enabled: run !== null && status === 'ready' })
}
