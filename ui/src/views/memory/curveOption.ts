/** The drawing of memory over time. */
import { type ChartOption, legend, LINES, type Look, tooltip, valueAxis, zoom } from '../../components/chart/look'
import type { CounterCurve, MemoryCurve } from '../../api/shapes'
import { levelAt, type StepSpan } from '../../lib/memory'
import { byteTick, byteTicks, timeTick } from '../../lib/ticks'
import { bytes, time } from '../../lib/units'
import type { Texts } from '../../texts/catalogues'

/** Steps are shaded where there are not more, and named where there are few. */
const MOST_SHADED = 120
const MOST_NAMED = 10

export interface CurveView {
  readonly curve: MemoryCurve
  readonly totals: readonly NamedCounter[]
  readonly steps: readonly StepSpan[]
  readonly at: number
  readonly toCapacity: boolean
  readonly seen: readonly [number, number] | null
}

export interface NamedCounter {
  readonly name: string
  readonly counter: CounterCurve
}

export function curveOption(view: CurveView, look: Look, texts: Texts['memory']): ChartOption {
  const { curve, totals, at, seen } = view
  // Between steps that are chosen, others may rise above the peak of these.
  const most = Math.max(...curve.bytes, ...totals.flatMap(({ counter }) => counter.values))
  const top = view.toCapacity && curve.capacity_bytes !== null ? Math.max(most, curve.capacity_bytes) : most
  const ticks = byteTicks(top * 1.08)
  const range = seen ? { startValue: seen[0], endValue: seen[1] } : {}
  return {
    grid: { left: 8, right: 24, top: 40, bottom: 36, containLabel: true },
    legend: legend(look, { show: totals.length > 0, data: [texts.blocks, ...totals.map(({ name }) => name)], ...LINES }),
    // Where the legend does not fit into one line, each name has one.
    media: [{ query: { maxWidth: 480 }, option: { grid: { top: 40 + 16 * totals.length } } }],
    tooltip: tooltip(look, { axisPointer: { type: 'line', lineStyle: { color: look.dimmed } }, formatter: (items: TooltipItem[]) => told(items, view, texts) }),
    xAxis: timeAxis(look, curve),
    yAxis: valueAxis(look, 'bytes', { ...ticks, axisLabel: { color: look.dimmed, formatter: byteTick } }),
    dataZoom: zoom(look, { filterMode: 'none', labelFormatter: timeTick, ...range }),
    series: [blocksSeries(view, look, texts), ...totals.map((total, at) => totalSeries(total, look, at, curve.end_ns)), marks(view, look, texts, at)],
  }
}

function timeAxis(look: Look, { start_ns: min, end_ns: max }: MemoryCurve): object {
  return valueAxis(look, 'time', {
    min,
    max,
    axisLabel: { color: look.dimmed, formatter: timeTick, hideOverlap: true, showMinLabel: min === 0, showMaxLabel: false },
    splitLine: { show: false },
    axisLine: { show: true, lineStyle: { color: look.line } },
  })
}

/** Where a time lies between both ends of the drawing, from 0 to 1. */
function placeIn({ start_ns: start, end_ns: end }: MemoryCurve, at: number): number {
  return (at - start) / (end - start)
}

function blocksSeries({ curve, steps }: CurveView, look: Look, texts: Texts['memory']): object {
  return {
    name: texts.blocks,
    type: 'line',
    step: 'end',
    symbol: 'none',
    color: look.series[0],
    lineStyle: { width: 1.5 },
    areaStyle: { opacity: 0.18 },
    data: points(curve.times_ns, curve.bytes, curve.end_ns),
    markPoint: peak(curve, look, texts),
    markArea: shading(steps.filter(({ start_ns: start, dur_ns: dur }) => start < curve.end_ns && start + dur > curve.start_ns), look, texts),
    ...(curve.capacity_bytes === null ? {} : { markLine: capacity(curve.capacity_bytes, look, texts) }),
  }
}

function totalSeries({ name, counter }: NamedCounter, look: Look, at: number, end: number): object {
  return {
    name,
    type: 'line',
    step: 'end',
    symbol: 'none',
    color: look.series[at + 1],
    lineStyle: { width: 1.5, type: at % 2 === 0 ? [6, 3] : [2, 3] },
    data: points(counter.times_ns, counter.values, end),
  }
}

/** A curve of steps, drawn until the recording ends. */
export function points(times: readonly number[], values: readonly number[], end: number): [number, number][] {
  const drawn = times.map((time, place): [number, number] => [time, values[place]!])
  const last = drawn.at(-1)
  return last && last[0] < end ? [...drawn, [end, last[1]]] : drawn
}

function peak(curve: MemoryCurve, look: Look, texts: Texts['memory']): object {
  if (curve.peak_bytes === null || curve.peak_at_ns === null) return { data: [] }
  const late = placeIn(curve, curve.peak_at_ns) > 0.75
  return {
    symbol: 'circle',
    symbolSize: 11,
    silent: true,
    itemStyle: { color: look.card, borderColor: look.kinds.sync, borderWidth: 2.5 },
    label: { position: late ? 'left' : 'right', distance: 8, color: look.text, fontWeight: 600, formatter: texts.peakMark(bytes(curve.peak_bytes)), backgroundColor: look.card, padding: [2, 4], borderRadius: 4 },
    data: [{ coord: [curve.peak_at_ns, curve.peak_bytes] }],
  }
}

function capacity(size: number, look: Look, texts: Texts['memory']): object {
  return {
    silent: true,
    symbol: 'none',
    lineStyle: { color: look.kinds.sync, type: 'dashed', width: 1.5 },
    label: { position: 'insideEndTop', color: look.text, formatter: texts.capacityMark(bytes(size)) },
    data: [{ yAxis: size }],
  }
}

function shading(steps: readonly StepSpan[], look: Look, texts: Texts['memory']): object {
  if (steps.length > MOST_SHADED) return { data: [] }
  const named = steps.length <= MOST_NAMED
  return {
    silent: true,
    itemStyle: { color: look.line, opacity: 0.45 },
    label: { show: named, color: look.dimmed, position: 'insideTop', fontSize: 12 },
    data: steps.flatMap(({ step, start_ns, dur_ns }, place) => (place % 2 === 1 && !named ? [] : [[{ name: texts.step(step), xAxis: start_ns, itemStyle: { opacity: place % 2 === 0 ? 0.45 : 0.15 } }, { xAxis: start_ns + dur_ns }]])),
  }
}

/** The instant, in a series without a line of its own, so that it lies above all. */
function marks({ curve }: CurveView, look: Look, texts: Texts['memory'], at: number): object {
  return {
    name: texts.instant,
    type: 'line',
    data: [],
    silent: true,
    markLine: {
      silent: true,
      symbol: ['none', 'none'],
      lineStyle: { color: look.text, type: 'solid', width: 1.5 },
      label: { position: 'end', distance: 2, color: look.card, backgroundColor: look.text, padding: [2, 5], borderRadius: 4, formatter: time(at), align: placeIn(curve, at) > 0.9 ? 'right' : placeIn(curve, at) < 0.1 ? 'left' : 'center' },
      data: [{ xAxis: at }],
    },
  }
}

interface TooltipItem {
  readonly axisValue: number
  readonly seriesName: string
  readonly value: readonly [number, number]
}

function told(items: readonly TooltipItem[], { curve, totals }: CurveView, texts: Texts['memory']): string {
  const at = Number(items[0]?.axisValue ?? 0)
  const rows = [[texts.blocks, levelAt(curve, at)], ...totals.map(({ name, counter }) => [name, levelAt({ times_ns: counter.times_ns, bytes: counter.values }, at)])] as const
  return [time(at), ...rows.map(([name, level]) => `${name}: ${bytes(level as number | null)}`)].join('\n')
}
