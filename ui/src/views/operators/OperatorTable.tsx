import { Button } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useMemo, useState } from 'react'
import type { OperatorRow, Operators } from '../../api/shapes'
import { DownloadIcon } from '../../components/icons'
import { DataTable } from '../../components/table/DataTable'
import type { Served } from '../../components/table/Pages'
import { csv, download } from '../../lib/csv'
import { useQueryChoices } from '../../state/address'
import { useTexts } from '../../state/language'
import { type Asked, csvAddress, MOST_ROWS, useOperators } from '../../state/operators'
import { operatorColumns } from './columns'
import { type Grouping, rowKey, type Tab } from './model'
import { OperatorsOfType } from './OperatorsOfType'
import { useChosen, useHeld } from './view'

interface OperatorTableProps {
  readonly run: string
  readonly tab: Tab
  readonly by: Grouping
  /** All rows; where there are too many, the first by their own time. */
  readonly found: Operators
}

export function OperatorTable({ run, tab, by, found }: OperatorTableProps) {
  const { operators: texts } = useTexts()
  const [, choose] = useChosen()
  const held = useHeld()
  const large = useLarge(run, tab, by, found)
  const kinds = new Set(found.rows.map((row) => row.device_kind))
  const withKind = tab.kind === null && kinds.size > 1
  const columns = useMemo(() => operatorColumns(texts, by, tab.side, withKind), [texts, by, tab.side, withKind])
  const name = `${run}-${tab.id}-${by}.csv`
  return (
    <DataTable
      label={texts.tableTitle(by)}
      rows={large?.rows ?? found.rows}
      columns={columns}
      rowKey={rowKey}
      searchable
      placeholder={texts.search}
      held={held}
      {...(large ? { served: large.served } : {})}
      {...(by === 'op-type' ? { expanded: (row: OperatorRow) => <OperatorsOfType run={run} tab={tab} type={row} /> } : {})}
      onOpen={(row) => choose(row, by)}
      height={560}
      tools={(shown) =>
        large ? (
          <Button component="a" href={large.csv} download={name} size="sm" variant="default" leftSection={<DownloadIcon size={16} />}>{texts.csv}</Button>
        ) : (
          <Button size="sm" variant="default" leftSection={<DownloadIcon size={16} />} onClick={() => download(name, csv(shown))}>{texts.csv}</Button>
        )
      }
    />
  )
}

const PAGE = 1000

/** Of a table longer than the page holds: the part that is shown, sorted and searched by the server. */
function useLarge(run: string, tab: Tab, by: Grouping, found: Operators): { rows: readonly OperatorRow[]; served: Served; csv: string } | null {
  const held = useHeld()
  const choices = useQueryChoices()
  const [offset, setOffset] = useState(0)
  const [search] = useDebouncedValue(held.query, 200)
  const { sort } = held
  const wanted: Asked = { on: tab.side, by, kind: tab.kind, sort: sort?.id ?? 'self_ns', ascending: !(sort?.desc ?? true), search }
  const isLarge = found.total_rows > MOST_ROWS
  const page = useOperators(run, { ...wanted, limit: PAGE, offset }, isLarge)
  if (!isLarge) return null
  const { rows, total_rows: total } = page.data ?? { rows: found.rows.slice(0, PAGE), total_rows: found.total_rows }
  const back = () => setOffset(0)
  return {
    rows,
    csv: csvAddress(run, wanted, choices),
    served: {
      total,
      offset,
      limit: PAGE,
      onOffset: setOffset,
      sort,
      onSort: (next) => (back(), held.onSort(next)),
      query: held.query,
      onQuery: (query) => (back(), held.onQuery(query)),
    },
  }
}
