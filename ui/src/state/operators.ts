/** Tables of operators of the run that is shown, of the rank, device and steps that the header has chosen. */
import { keepPreviousData, useQueries } from '@tanstack/react-query'
import { api } from '../api/client'
import type { OperatorRow, Operators } from '../api/shapes'
import { useQueryChoices, useSelection } from './address'
import { type LaterRows, laterRows, PART } from './scrolled'

/** Tables up to here are sorted and searched on the page; the server does so for longer ones. */
export const MOST_ROWS = 5000

export interface Asked {
  readonly on: Operators['on']
  readonly by: Operators['by']
  /** Only operators of this kind of processor. */
  readonly kind?: string | null
  /** COL=TEXT: the column contains it. */
  readonly filter?: string
  readonly sort?: string
  readonly ascending?: boolean
  readonly search?: string
  readonly limit?: number
  readonly offset?: number
}

/** The choices of the header that tables of operators take. */
export function useOperatorChoices(): Choices {
  const choices = useQueryChoices()
  const { device } = useSelection()
  return { ...choices, ...(device === null ? {} : { device }) }
}

interface Choices {
  readonly rank?: number
  readonly device?: number
  readonly steps?: string
}

export function useOperators(run: string, asked: Asked, enabled = true) {
  const choices = useOperatorChoices()
  const query = { ...choices, ...queryOf(asked) }
  return api.useQuery('get', '/api/runs/{run}/op', { params: { path: { run }, query } }, { enabled, placeholderData: keepPreviousData, select: asTable })
}

/** Parts of a table longer than MOST_ROWS. */
export function useOperatorParts(run: string, asked: Asked, wanted: readonly number[]): LaterRows<OperatorRow> {
  const choices = useOperatorChoices()
  const queries = wanted.map((part) => {
    const query = { ...choices, ...queryOf({ ...asked, limit: PART, offset: part * PART }) }
    return { ...api.queryOptions('get', '/api/runs/{run}/op', { params: { path: { run }, query } }), select: asTable }
  })
  return laterRows(wanted, useQueries({ queries }))
}

/** The route can answer as Arrow and CSV as well; asked like this it answers JSON. */
function asTable(answer: unknown): Operators {
  return answer as Operators
}

function queryOf({ kind, by, search, filter, ...rest }: Asked) {
  return {
    ...rest,
    by: by as 'op-type',
    ...(kind == null ? {} : { in: [`device_kind=${kind}`] }),
    ...(filter === undefined ? {} : { filter: [filter] }),
    ...(search === undefined || search.trim() === '' ? {} : { search }),
  }
}

/** Where the server gives the same table as a file. */
export function csvAddress(run: string, asked: Asked, choices: Choices): string {
  const query = new URLSearchParams({ format: 'csv' })
  for (const [name, value] of Object.entries({ ...choices, ...queryOf(asked) })) {
    for (const each of Array.isArray(value) ? value : [value]) query.append(name, String(each))
  }
  return `/api/runs/${encodeURIComponent(run)}/op?${query}`
}
