import { useComputedColorScheme } from '@mantine/core'
import { useCallback, useMemo } from 'react'
import type { OperatorRow } from '../../api/shapes'
import { Chart } from '../../components/chart/Chart'
import { type ChartOption, type Look, lookOf, tooltip } from '../../components/chart/look'
import { exactly, share, time } from '../../lib/units'
import { useTexts } from '../../state/language'
import type { Ranked, Side } from './model'
import styles from './Operators.module.css'
import { Ranking, sliceColours } from './Ranking'

interface PieProps {
  readonly entries: readonly Ranked[]
  readonly side: Side
  readonly label: string
  readonly onOpen: (row: OperatorRow) => void
}

/** Shares as a ring, with its legend beside it. */
export function Pie({ entries, side, label, onOpen }: PieProps) {
  const { operators: texts } = useTexts()
  const scheme = useComputedColorScheme('light')
  const colours = useMemo(() => sliceColours(entries, scheme, lookOf(scheme).dimmed), [entries, scheme])
  const name = useCallback((entry: Ranked) => (entry.row === null ? texts.others(entry.rows) : entry.row.name), [texts])
  const option = useCallback((look: Look) => pieOption(look, entries, colours, name), [entries, colours, name])
  const table = () => ({
    columns: [texts.columns.name, texts.columns.share, texts.columns.self],
    rows: entries.map((entry) => [name(entry), share(entry.share), exactly(entry.self_ns, 'time')]),
  })
  const open = (at: number) => {
    const row = entries[at]?.row
    if (row) onOpen(row)
  }
  return (
    <div className={styles.pie}>
      <Chart label={label} option={option} table={table} height={300} onClick={({ dataIndex }) => open(dataIndex)} />
      <Ranking entries={entries} side={side} label={label} onOpen={onOpen} colours={colours} />
    </div>
  )
}

function pieOption(look: Look, entries: readonly Ranked[], colours: readonly string[], name: (entry: Ranked) => string): ChartOption {
  return {
    tooltip: tooltip(look, {
      trigger: 'item',
      formatter: ({ dataIndex }: { dataIndex: number }) => {
        const entry = entries[dataIndex]!
        return `${name(entry)}\n${share(entry.share)} · ${time(entry.self_ns)}`
      },
    }),
    series: [{
      type: 'pie',
      radius: ['48%', '92%'],
      data: entries.map((entry, at) => ({
        name: name(entry),
        value: entry.self_ns,
        itemStyle: { color: colours[at], borderColor: look.card, borderWidth: 1.5 },
      })),
      label: {
        position: 'inside',
        color: look.scheme === 'light' ? '#ffffff' : '#10151c',
        fontSize: 12,
        fontWeight: 600,
        formatter: ({ dataIndex, percent }: { dataIndex: number; percent: number }) => (percent < 4 || entries[dataIndex]!.row === null ? '' : String(dataIndex + 1)),
      },
      labelLine: { show: false },
      emphasis: { scaleSize: 4 },
    }],
  }
}
