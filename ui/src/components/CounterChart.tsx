import { useCallback } from 'react'
import { type Counter, counterText, isBytes } from '../lib/counters'
import { byteTick, byteTicks, timeTick } from '../lib/ticks'
import { exactly, time } from '../lib/units'
import { useTexts } from '../state/language'
import { Chart } from './chart/Chart'
import { type ChartOption, legend, LINES, type Look, tooltip, valueAxis, zoom } from './chart/look'

export interface CounterChartProps {
  readonly label: string
  /** Counters of one unit. */
  readonly counters: readonly Counter[]
  /** Where the recording begins, or the part of it that is shown. */
  readonly start?: number
  /** Where it ends; the last value holds until then. */
  readonly end: number
  readonly height?: number
  /** A legend names the counters; without it the heading does. */
  readonly named?: boolean
}

/** Counters over time, each value holding until the next. */
export function CounterChart({ label, counters, start = 0, end, height = 220, named = true }: CounterChartProps) {
  const { memory: texts } = useTexts()
  const option = useCallback((look: Look) => counterOption(counters, [start, end], look, named), [counters, start, end, named])
  const table = () => ({
    columns: [texts.counter, texts.time, texts.counterValue],
    rows: counters.flatMap((counter) => counter.times_ns.map((ns, at) => [counter.name, exactly(ns, 'time'), isBytes(counter) ? exactly(counter.values[at], 'bytes') : counterText(counter.values[at], counter)])),
  })
  return <Chart label={label} option={option} table={table} height={height} />
}

const DASHES: readonly (string | readonly number[])[] = ['solid', [6, 3], [2, 3], [10, 3, 2, 3]]
const LINE_OF_LEGEND = 20
const PER_LINE = 4

function counterOption(counters: readonly Counter[], [start, end]: readonly [number, number], look: Look, named: boolean): ChartOption {
  const [first] = counters
  const inBytes = first !== undefined && isBytes(first)
  const most = Math.max(...counters.flatMap((counter) => counter.values), 0)
  const lines = named ? Math.ceil(counters.length / PER_LINE) : 0
  const label = { color: look.dimmed, formatter: inBytes ? byteTick : (value: number) => (first ? counterText(value, first) : String(value)) }
  return {
    grid: { left: 8, right: 24, top: 16 + lines * LINE_OF_LEGEND, bottom: 36, containLabel: true },
    legend: legend(look, { show: named, ...LINES, right: 36 }),
    tooltip: tooltip(look, { axisPointer: { type: 'line', lineStyle: { color: look.dimmed } }, formatter: (items: readonly Item[]) => told(items, counters) }),
    xAxis: valueAxis(look, 'time', {
      min: start, max: end, splitLine: { show: false }, axisLine: { show: true, lineStyle: { color: look.line } },
      axisLabel: { color: look.dimmed, formatter: timeTick, hideOverlap: true, showMinLabel: start === 0, showMaxLabel: false },
    }),
    yAxis: valueAxis(look, 'number', { ...(inBytes ? byteTicks(most) : {}), axisLabel: label, splitNumber: 4 }),
    dataZoom: zoom(look, { filterMode: 'none', labelFormatter: timeTick }),
    series: counters.map((counter, at) => series(counter, at, end, look)),
  }
}

function series(counter: Counter, at: number, end: number, look: Look): object {
  const last = counter.times_ns.at(-1)
  const drawn = counter.times_ns.map((ns, place) => [ns, counter.values[place]])
  return {
    name: counter.name,
    type: 'line',
    step: 'end',
    symbol: 'none',
    color: look.series[at % look.series.length],
    lineStyle: { width: 1.5, type: DASHES[at % DASHES.length] },
    data: last !== undefined && last < end ? [...drawn, [end, counter.values.at(-1)]] : drawn,
  }
}

interface Item {
  readonly axisValue: number
  readonly seriesName: string
  readonly value: readonly [number, number]
}

function told(items: readonly Item[], counters: readonly Counter[]): string {
  const rows = items.map(({ seriesName, value }) => {
    const counter = counters.find(({ name }) => name === seriesName)
    return `${seriesName}: ${counter ? counterText(value[1], counter) : value[1]}`
  })
  return [time(items[0]?.axisValue), ...rows].join('\n')
}
