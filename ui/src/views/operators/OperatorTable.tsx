import { Button } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { type ComponentProps, useMemo } from 'react'
import type { OperatorRow, Operators } from '../../api/shapes'
import { DownloadIcon } from '../../components/icons'
import { Loaded } from '../../components/Loaded'
import { DataTable, type DataTableProps } from '../../components/table/DataTable'
import { csv, download } from '../../lib/csv'
import { useTexts } from '../../state/language'
import { type Asked, csvAddress, MOST_ROWS, useOperatorChoices, useOperatorParts, useOperators } from '../../state/operators'
import { PART, useScrolled } from '../../state/scrolled'
import { type HeldPage, useHeld } from '../../state/tables'
import { operatorColumns } from './columns'
import { type Grouping, rowKey, type Tab } from './model'
import { OperatorsOfType } from './OperatorsOfType'
import { FIRST_SORT, useChosen } from './view'

interface OperatorTableProps {
  readonly run: string
  readonly tab: Tab
  readonly by: Grouping
  /** All rows; where there are too many, the first by their own time. */
  readonly found: Operators
}

export function OperatorTable(props: OperatorTableProps) {
  const { tab, by, found } = props
  const { operators: texts } = useTexts()
  const kinds = new Set(found.rows.map((row) => row.device_kind))
  const withKind = tab.kind === null && kinds.size > 1
  const columns = useMemo(() => operatorColumns(texts, by, tab.side, withKind), [texts, by, tab.side, withKind])
  const held = useHeld(FIRST_SORT)
  const known = columns.some(({ id }) => id === held.sort.id)
  const shown = { ...props, columns, held: known ? held : { ...held, sort: FIRST_SORT } }
  return found.total_rows > MOST_ROWS ? <ServedTable {...shown} /> : <WholeTable {...shown} />
}

type ShownProps = OperatorTableProps & Pick<DataTableProps<OperatorRow>, 'columns'> & { readonly held: HeldPage }

/** All rows are here: the page sorts and searches them. */
function WholeTable(props: ShownProps) {
  const { found: { rows } } = props
  const name = fileName(props)
  return <Rows {...props} rows={rows} tools={(shown) => <CsvButton onClick={() => download(name, csv(shown))} />} />
}

/** Letters of a search that the server takes. */
const LONGEST_SEARCH = 200

/** A table longer than the page holds: its rows come as they are scrolled to; the server sorts and searches. */
function ServedTable(props: ShownProps) {
  const { run, tab, by, held } = props
  const choices = useOperatorChoices()
  const [search] = useDebouncedValue(held.query.slice(0, LONGEST_SEARCH), 200)
  const wanted: Asked = { on: tab.side, by, kind: tab.kind, sort: held.sort.id, ascending: !held.sort.desc, search }
  const start = useOperators(run, { ...wanted, limit: PART, offset: 0 })
  const scrolled = useScrolled(held, start.data?.total_rows ?? 0)
  const later = useOperatorParts(run, wanted, scrolled.wanted)
  return (
    <Loaded query={start} height={560}>
      {({ rows, total_rows: total }) => (
        <Rows {...props} rows={rows} served={{ ...held, total, parts: scrolled.parts(rows, later) }}
          tools={<CsvButton component="a" href={csvAddress(run, wanted, choices)} download={fileName(props)} />} />
      )}
    </Loaded>
  )
}

type RowsProps = ShownProps & Pick<DataTableProps<OperatorRow>, 'rows' | 'tools' | 'served'>

function Rows({ run, tab, by, found: _, ...table }: RowsProps) {
  const { operators: texts } = useTexts()
  const [, choose] = useChosen()
  return (
    <DataTable
      {...table}
      label={texts.tableTitle(by)}
      rowKey={rowKey}
      searchable
      placeholder={texts.search}
      {...(by === 'op-type' ? { expanded: (row: OperatorRow) => <OperatorsOfType run={run} tab={tab} type={row} /> } : {})}
      onOpen={(row) => choose(row, by)}
      height={560}
    />
  )
}

type CsvButtonProps = { onClick: () => void } | Pick<ComponentProps<'a'>, 'href' | 'download'> & { component: 'a' }

function CsvButton(acts: CsvButtonProps) {
  const { operators: texts } = useTexts()
  return <Button size="sm" variant="default" leftSection={<DownloadIcon size={16} />} {...acts}>{texts.csv}</Button>
}

function fileName({ run, tab, by }: OperatorTableProps): string {
  return `${run}-${tab.id}-${by}.csv`
}
