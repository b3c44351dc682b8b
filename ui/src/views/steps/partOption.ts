/** One part of the steps as a line, with its mean and p90. */
import { type ChartOption, type Look, nameAxis, tooltip, valueAxis, zoom, ZOOM_FROM } from '../../components/chart/look'
import type { StripStep } from '../../lib/strip'
import type { StepRow } from '../../lib/steps'
import { time } from '../../lib/units'
import type { Texts } from '../../texts/catalogues'
import type { Kind } from '../../lib/colours'

export interface Part {
  readonly key: keyof StripStep
  readonly term: 'interval' | 'forwardBackward' | 'tail'
  readonly kind: Kind
}

export const STEP_PARTS: readonly Part[] = [
  { key: 'interval_ns', term: 'interval', kind: 'data' },
  { key: 'forward_backward_ns', term: 'forwardBackward', kind: 'compute' },
  { key: 'tail_ns', term: 'tail', kind: 'host' },
]

export interface Levels {
  readonly mean: number | null
  readonly p90: number | null
}

export function partOption(rows: readonly StepRow[], part: Part, levels: Levels, selected: number | null, texts: Pick<Texts, 'steps' | 'terms'>) {
  return (look: Look): ChartOption => ({
    grid: { left: 8, right: 16, top: 16, bottom: rows.length > ZOOM_FROM ? 44 : 8, containLabel: true },
    tooltip: tooltip(look, {
      axisPointer: { type: 'line', lineStyle: { color: look.dimmed } },
      formatter: (found: readonly { dataIndex: number }[]) => {
        const row = found[0] && rows[found[0].dataIndex]
        return row ? `${texts.steps.stepOf(row.step)}   ${time(row[part.key])}` : ''
      },
    }),
    xAxis: nameAxis(look, rows.map((row) => row.step), { boundaryGap: rows.length < 3 }),
    yAxis: valueAxis(look, 'time', { splitNumber: 4, boundaryGap: [0, '10%'] }),
    ...(rows.length > ZOOM_FROM ? { dataZoom: zoom(look) } : {}),
    series: [
      {
        type: 'line',
        name: texts.terms[part.term].name,
        data: rows.map((row) => row[part.key]),
        showSymbol: rows.length < 40,
        symbolSize: 6,
        lineStyle: { width: 1.6, color: look.kinds[part.kind] },
        itemStyle: { color: look.kinds[part.kind] },
        markLine: { silent: true, symbol: 'none', animation: false, data: levelLines(levels, look, texts) },
        markPoint: chosenPoint(rows, part, selected, look),
      },
    ],
  })
}

function levelLines(levels: Levels, look: Look, texts: Pick<Texts, 'steps' | 'terms'>): object[] {
  const label = { color: look.text, backgroundColor: look.card, padding: [1, 4], borderRadius: 3, fontSize: 11 }
  const line = (value: number | null, name: string, type: string, position: string) =>
    value === null ? [] : [{ yAxis: value, lineStyle: { color: look.dimmed, type, width: 1 }, label: { ...label, position, formatter: `${name} ${time(value)}` } }]
  return [...line(levels.mean, texts.steps.mean, 'dashed', 'insideStartBottom'), ...line(levels.p90, texts.terms.p90.name, 'dotted', 'insideEndTop')]
}

function chosenPoint(rows: readonly StepRow[], part: Part, selected: number | null, look: Look): object {
  const at = rows.findIndex((row) => row.index === selected)
  const value = at < 0 ? null : rows[at]![part.key]
  return {
    silent: true,
    animation: false,
    symbol: 'circle',
    symbolSize: 11,
    itemStyle: { color: 'transparent', borderColor: look.text, borderWidth: 2 },
    label: { show: false },
    data: value === null ? [] : [{ coord: [at, value] }],
  }
}
