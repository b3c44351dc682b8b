import { SegmentedControl, useComputedColorScheme } from '@mantine/core'
import { keepPreviousData } from '@tanstack/react-query'
import { useCallback, useMemo } from 'react'
import { api } from '../../api/client'
import type { Operators } from '../../api/shapes'
import { Card } from '../../components/Card'
import { Chart } from '../../components/chart/Chart'
import { lookOf } from '../../components/chart/look'
import { EmptyState } from '../../components/EmptyState'
import { Loaded } from '../../components/Loaded'
import { PageLink } from '../../components/PageLink'
import type { Column } from '../../components/table/column'
import { DataTable } from '../../components/table/DataTable'
import { RECORD } from '../../lib/recording'
import { exactly, share } from '../../lib/units'
import { useParam, useQueryChoices } from '../../state/address'
import { useTexts } from '../../state/language'
import { colourOf, type TopShare, topOption, topShares } from './operatorOption'
import styles from './Overview.module.css'

const MOST = 5

/** The types of operators that take most time. */
export function OperatorsCard({ run }: { run: string }) {
  const { overview: texts } = useTexts()
  const choices = useQueryChoices()
  const [chart, setChart] = useParam('chart')
  const query = api.useQuery('get', '/api/runs/{run}/op', { params: { path: { run }, query: { ...choices, by: 'op-type', limit: MOST } } }, {
    placeholderData: keepPreviousData,
    select: (answer) => answer as Operators, // the route also answers Arrow and CSV, where asked for
  })
  const known = query.data && query.data.rows.length > 0
  return (
    <Card
      title={texts.operators}
      hint={known ? texts.operatorsOn[query.data.on] : undefined}
      evidence="slow_operator small_kernels useless_ops"
      actions={
        <>
          {known && (
            <SegmentedControl size="xs" aria-label={texts.shape} value={chart === 'pie' ? 'pie' : 'bar'} onChange={(shape) => setChart(shape === 'bar' ? null : shape)}
              data={[{ value: 'bar', label: texts.bar }, { value: 'pie', label: texts.pie }]} />
          )}
          <PageLink run={run} page="operators" />
        </>
      }
    >
      <Loaded query={query} height={320}>{(answer) => <Top answer={answer} pie={chart === 'pie'} />}</Loaded>
    </Card>
  )
}

function Top({ answer, pie }: { answer: Operators; pie: boolean }) {
  const { overview: texts } = useTexts()
  const scheme = useComputedColorScheme('light')
  const look = useMemo(() => lookOf(scheme), [scheme])
  const rows = useMemo(() => topShares(answer.rows, answer.total_rows, texts), [answer, texts])
  const option = useCallback(topOption(rows, pie), [rows, pie])
  const columns = useMemo<readonly Column<TopShare>[]>(
    () => [
      { id: 'name', label: texts.operatorType, value: (row) => row.name, least: 100, unsortable: true, cell: (row) => <Named row={row} colour={colourOf(row, rows.indexOf(row), look)} /> },
      { id: 'count', label: texts.calls, value: (row) => row.count, as: 'count', width: 76, unsortable: true },
      { id: 'total_ns', label: texts.totalTime, value: (row) => row.total_ns, as: 'time', width: 88, unsortable: true },
      { id: 'share', label: texts.shareOf, value: (row) => row.share, as: 'share', width: 74, unsortable: true },
    ],
    [texts, rows, look],
  )
  if (rows.length === 0) return <EmptyState what={texts.noOperators} why={texts.noOperatorsWhy} code={RECORD} />
  const table = () => ({ columns: [texts.operatorType, texts.totalTime, texts.shareOf], rows: rows.map((row) => [row.name, exactly(row.total_ns, 'time'), share(row.share)]) })
  return (
    <>
      <Chart label={texts.operators} height={pie ? 200 : 16 + 26 * rows.length} option={option} table={table} />
      <div className={styles.under}>
        <DataTable label={texts.operators} rows={rows} columns={columns} rowKey={(row) => row.key} />
      </div>
    </>
  )
}

function Named({ row, colour }: { row: TopShare; colour: string }) {
  return <span title={row.name} className={styles.operator}><span className={styles.swatch} style={{ background: colour }} aria-hidden="true" />{row.name}</span>
}
