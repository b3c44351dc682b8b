/** What the page of operators keeps in the address. */
import { useCallback } from 'react'
import type { OperatorRow } from '../../api/shapes'
import type { Sort } from '../../components/table/column'
import { useParams } from '../../state/address'
import { FIRST_PAGE } from '../../state/tables'
import { GROUPINGS, type Grouping, shapesOf, type Tab } from './model'

export const FIRST_SORT: Sort = { id: 'self_ns', desc: true }

/** No row is open. */
const CLOSED = { op: null, of: null, op_kind: null, op_shapes: null }

/** The tab that is chosen, the first where none is; and how to choose one. */
export function useTab(tabs: readonly Tab[]): [Tab | null, (id: string) => void] {
  const [params, change] = useParams()
  const tab = tabs.find(({ id }) => id === params.get('tab')) ?? tabs[0] ?? null
  return [tab, (id) => change({ tab: id === tabs[0]?.id ? null : id, ...FIRST_PAGE, ...CLOSED })]
}

export function useGrouping(offered: readonly Grouping[]): [Grouping, (by: string | null) => void] {
  const [params, change] = useParams()
  const by = GROUPINGS.find((each) => each === params.get('by') && offered.includes(each)) ?? 'op-type'
  return [by, (chosen) => change({ by: chosen === 'op-type' ? null : chosen, ...FIRST_PAGE })]
}

/** The row whose details are shown. */
export interface Chosen {
  readonly name: string
  readonly by: Grouping
  readonly kind: string | null
  readonly shapes: string | null
}

export function useChosen(): [Chosen | null, (row: OperatorRow, by: Grouping) => void, () => void] {
  const [params, change] = useParams()
  const name = params.get('op')
  const by = GROUPINGS.find((each) => each === params.get('of')) ?? 'op-type'
  const chosen = name === null ? null : { name, by, kind: params.get('op_kind'), shapes: params.get('op_shapes') }
  const choose = useCallback(
    (row: OperatorRow, of: Grouping) => change({ op: row.name, of, op_kind: row.device_kind, op_shapes: shapesOf(row) }),
    [change],
  )
  const close = useCallback(() => change(CLOSED), [change])
  return [chosen, choose, close]
}
