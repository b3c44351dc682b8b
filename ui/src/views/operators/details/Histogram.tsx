import { useCallback } from 'react'
import type { OperatorDetails } from '../../../api/shapes'
import { Chart } from '../../../components/chart/Chart'
import { type ChartOption, type Look, nameAxis, tooltip, valueAxis } from '../../../components/chart/look'
import { count, exactly, time } from '../../../lib/units'
import { useTexts } from '../../../state/language'

type Bins = NonNullable<OperatorDetails['histogram']>

/** Executions by their time, on a logarithmic scale: each bar spans the same ratio. */
export function Histogram({ histogram }: { histogram: Bins }) {
  const { operators: { details: texts } } = useTexts()
  const option = useCallback((look: Look) => bars(look, histogram, texts.histogramAxis), [histogram, texts])
  const table = () => ({
    columns: [texts.between, texts.to, texts.executions],
    rows: histogram.counts.map((executions, at) => [exactly(histogram.edges_ns[at], 'time'), exactly(histogram.edges_ns[at + 1], 'time'), executions] as const),
  })
  return <Chart label={texts.histogram} option={option} table={table} height={180} />
}

function bars(look: Look, { edges_ns: edges, counts }: Bins, name: string): ChartOption {
  const between = (at: number) => `${time(edges[at])} – ${time(edges[at + 1])}`
  const words = (at: number) => `${between(at)}\n${count(counts[at])} ${name}`
  return {
    grid: { left: 8, right: 40, top: 28, bottom: 4, containLabel: true },
    tooltip: tooltip(look, { formatter: (items: { dataIndex: number }[]) => words(items[0]!.dataIndex) }),
    xAxis: nameAxis(look, counts.map((_, at) => time(edges[at]))),
    yAxis: valueAxis(look, 'count', { name, minInterval: 1, nameTextStyle: { color: look.dimmed, align: 'left' } }),
    series: [{ type: 'bar', data: [...counts], barCategoryGap: '8%', itemStyle: { color: look.kinds.compute } }],
  }
}
