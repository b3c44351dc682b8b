/** How a table is sorted, searched and paged, as the address holds it: `sort=-self_ns&q=mm&offset=1000`. */
import { useMemo } from 'react'
import type { Sort } from '../components/table/column'
import type { Held } from '../components/table/useRows'
import { useParams } from './address'

export interface HeldPage extends Held {
  readonly sort: Sort
  /** How many rows come before those shown, where the server has the others. */
  readonly offset: number
  readonly onOffset: (offset: number) => void
}

/** What other rows begin with. */
export const FIRST_PAGE = { offset: null }

export function useHeld(first: Sort): HeldPage {
  const [params, change] = useParams()
  const text = params.get('sort')
  const sort = useMemo(() => sortOf(text) ?? first, [text, first])
  return {
    sort,
    onSort: ({ id, desc }) => change({ sort: `${desc ? '-' : ''}${id}`, ...FIRST_PAGE }),
    query: params.get('q') ?? '',
    onQuery: (query) => change({ q: query, ...FIRST_PAGE }),
    offset: Number(/^\d{1,6}$/.exec(params.get('offset') ?? '')?.[0] ?? 0),
    onOffset: (offset) => change({ offset: offset === 0 ? null : String(offset) }),
  }
}

function sortOf(text: string | null): Sort | null {
  const [, minus, id] = /^(-?)(\w{1,40})$/.exec(text ?? '') ?? []
  return id === undefined ? null : { id, desc: minus === '-' }
}
