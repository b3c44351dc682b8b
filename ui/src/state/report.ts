/** The report of the run that is shown: what header, findings and pages have in common. */
import { keepPreviousData } from '@tanstack/react-query'
import { useCallback } from 'react'
import { api } from '../api/client'
import type { RankReport, Report } from '../api/shapes'
import { useSelection } from './address'
import { useTranslations } from './findings'

/** Of the whole recording; what the header offers to choose from. */
export function useWholeReport(run: string, enabled = true) {
  return api.useQuery('get', '/api/runs/{run}/report', { params: { path: { run } } }, { enabled, select: useInLanguage(enabled ? run : null) })
}

/** Of the steps that the header has chosen. */
export function useReport(run: string) {
  const { steps } = useSelection()
  const path = { run }
  // Without steps it is the whole recording's, by the same key: the header has asked for it already.
  const params = steps === null ? { path } : { path, query: { steps } }
  return api.useQuery('get', '/api/runs/{run}/report', { params }, { placeholderData: keepPreviousData, select: useInLanguage(run) })
}

/** Tells how to record what is missing in the language of the page; what is missing keeps its name, by which pages look it up. */
function useInLanguage(run: string | null) {
  const told = useTranslations(run)
  return useCallback(
    (report: Report): Report => ({
      ...report,
      not_recorded: report.not_recorded.map((missing, at) => ({ ...missing, how_to_record: told[at]?.how_to_record ?? missing.how_to_record })),
    }),
    [told],
  )
}

/** The entry of the chosen rank, the first where none was chosen. */
export function entryOf(report: Report, rank: number | null): RankReport | null {
  return report.ranks.find((entry) => rank !== null && entry.rank === rank) ?? report.ranks[0] ?? null
}
