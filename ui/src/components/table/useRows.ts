import { createColumnHelper, createSortedRowModel, rowSortingFeature, sortFn_alphanumeric, sortFn_basic, tableFeatures, useTable } from '@tanstack/react-table'
import { useMemo, useState } from 'react'
import { fuzzySearch } from '../../lib/fuzzy'
import { type Column, rowText, type Sort } from './column'

const FEATURES = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns: { basic: sortFn_basic, alphanumeric: sortFn_alphanumeric },
})

export interface Ordered<Row> {
  readonly rows: readonly Row[]
  readonly sort: Sort | null
  readonly sortBy: (column: Column<Row>) => void
}

/** What is sorted and searched for, where its owner keeps it, as in the address. */
export interface Held {
  readonly sort: Sort | null
  readonly onSort: (sort: Sort) => void
  readonly query: string
  readonly onQuery: (query: string) => void
}

export interface OrderOptions {
  readonly query: string
  readonly firstSort: Sort | null
  readonly held?: Held | undefined
  /** The server sorts and searches: rows stay as they came. */
  readonly served: boolean
}

/** Rows that answer the query, sorted; best answers first while nothing else was asked for. */
export function useRows<Row>(data: readonly Row[], columns: readonly Column<Row>[], options: OrderOptions): Ordered<Row> {
  const { query, firstSort, served, held } = options
  const [chosen, setChosen] = useState<Sort | null>(firstSort)
  const sort = held ? held.sort : chosen
  const found = useMemo(
    () => (served ? data : fuzzySearch(data, query, (row) => rowText(row, columns))) as (Row & object)[],
    [data, query, columns, served],
  )
  const definitions = useMemo(() => columnDefinitions(columns), [columns])
  const table = useTable({
    features: FEATURES,
    columns: definitions,
    data: found,
    manualSorting: served,
    state: { sorting: sort ? [{ id: sort.id, desc: sort.desc }] : [] },
  })
  const sortBy = (column: Column<Row>) => {
    const desc = sort?.id === column.id ? !sort.desc : column.as !== undefined
    const next = { id: column.id, desc }
    if (held) held.onSort(next)
    else setChosen(next)
  }
  const model = table.getRowModel().rows
  const rows = useMemo(() => model.map((row) => row.original), [model])
  return { rows, sort, sortBy }
}

function columnDefinitions<Row>(columns: readonly Column<Row>[]) {
  const helper = createColumnHelper<typeof FEATURES, Row & object>()
  return helper.columns(
    columns.map((column) =>
      helper.accessor((row) => column.value(row) ?? undefined, {
        id: column.id,
        sortFn: column.as === undefined ? 'alphanumeric' : 'basic',
        sortUndefined: 'last',
      }),
    ),
  )
}
