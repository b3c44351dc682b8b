import { useComputedColorScheme } from '@mantine/core'
import { useMemo, useState } from 'react'
import { count } from '../../lib/units'
import { useTexts } from '../../state/language'
import { TableIcon } from '../icons'
import styles from './Chart.module.css'
import { type ChartOption, type Look, lookOf } from './look'
import { type ChartEvents, useEngine } from './useEngine'

export interface ChartTable {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | number)[])[]
}

export interface ChartProps extends ChartEvents {
  /** What the chart says, in words. */
  readonly label: string
  /** Made of the look of the theme; keep it by `useCallback`, a new one draws anew. */
  readonly option: (look: Look) => ChartOption
  /** The same as a table, for who cannot see or wants the numbers. */
  readonly table: () => ChartTable
  readonly height?: number
}

/** A chart; its code loads when the first one shows. */
export function Chart({ label, option, table, height = 280, ...events }: ChartProps) {
  const { frame } = useTexts()
  const scheme = useComputedColorScheme('light')
  const look = useMemo(() => lookOf(scheme), [scheme])
  const drawn = useMemo(() => option(look), [option, look])
  const [asTable, setAsTable] = useState(false)
  const place = useEngine(asTable ? null : drawn, look, events)
  return (
    <div className={styles.chart}>
      <button type="button" className={styles.toggle} onClick={() => setAsTable(!asTable)} title={asTable ? frame.showChart : frame.showTable} aria-label={`${label}: ${asTable ? frame.showChart : frame.showTable}`}>
        <TableIcon size={16} />
      </button>
      {asTable ? <Table label={label} table={table()} height={height} /> : <div ref={place} role="img" aria-label={label} style={{ height }} />}
    </div>
  )
}

const MOST_ROWS = 1000

function Table({ label, table, height }: { label: string; table: ChartTable; height: number }) {
  const texts = useTexts().table
  return (
    <div className={styles.scroll} style={{ maxHeight: Math.max(height, 160) }} tabIndex={0} role="region" aria-label={label}>
      <table className={`numbers ${styles.table}`}>
        <thead><tr>{table.columns.map((name) => <th key={name} scope="col">{name}</th>)}</tr></thead>
        <tbody>
          {table.rows.slice(0, MOST_ROWS).map((row, at) => (
            <tr key={at}>{row.map((value, column) => <td key={column} data-number={typeof value === 'number' || column > 0}>{value}</td>)}</tr>
          ))}
        </tbody>
      </table>
      {table.rows.length > MOST_ROWS && <p>{texts.rows(count(MOST_ROWS), count(table.rows.length))}</p>}
    </div>
  )
}
