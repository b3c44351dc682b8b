/** What options of charts are made of: the colours of the theme, axes with units, zoom. */
import type { EChartsCoreOption } from 'echarts/core'
import { type Kind, KIND_COLOURS, ON_KIND, type Scheme, SERIES, SURFACE } from '../../lib/colours'
import { type Quantity, readable } from '../../lib/units'
import { FONT } from '../../theme/theme'

export type ChartOption = EChartsCoreOption

export interface Look {
  readonly scheme: Scheme
  readonly kinds: Record<Kind, string>
  readonly series: readonly string[]
  readonly text: string
  readonly dimmed: string
  readonly line: string
  readonly card: string
  /** Text on a filled part. */
  readonly onKind: string
}

export function lookOf(scheme: Scheme): Look {
  return { scheme, kinds: KIND_COLOURS[scheme], series: SERIES[scheme], onKind: ON_KIND[scheme], ...SURFACE[scheme] }
}

/** What all charts share; an option given by a page is laid over it. */
export function baseOption(look: Look, still: boolean): ChartOption {
  return {
    backgroundColor: 'transparent',
    color: [...look.series],
    textStyle: { fontFamily: FONT, color: look.text },
    animation: !still,
    animationDuration: 120,
    animationDurationUpdate: 120,
    grid: { left: 8, right: 16, top: 32, bottom: 8, containLabel: true },
    aria: { enabled: false }, // the label and the table beside the chart say it better
    tooltip: tooltip(look),
  }
}

/** Tooltips are drawn, not made of HTML: the content policy forbids style attributes. */
export function tooltip(look: Look, more: object = {}): object {
  return {
    renderMode: 'richText',
    confine: true,
    trigger: 'axis',
    backgroundColor: look.card,
    borderColor: look.line,
    textStyle: { color: look.text, fontFamily: FONT, fontSize: 13 },
    axisPointer: { type: 'shadow', shadowStyle: { color: look.line, opacity: 0.35 } },
    ...more,
  }
}

/** An axis of values with their unit. */
export function valueAxis(look: Look, as: Quantity, more: object = {}): object {
  return {
    type: 'value',
    axisLabel: { color: look.dimmed, formatter: (value: number) => readable(value, as) },
    splitLine: { lineStyle: { color: look.line } },
    nameTextStyle: { color: look.dimmed },
    ...more,
  }
}

/** An axis of names or step numbers. */
export function nameAxis(look: Look, names: readonly (string | number)[], more: object = {}): object {
  return {
    type: 'category',
    data: [...names],
    axisLabel: { color: look.dimmed, hideOverlap: true },
    axisLine: { lineStyle: { color: look.line } },
    axisTick: { show: false },
    nameTextStyle: { color: look.dimmed },
    ...more,
  }
}

/** With fewer items there is nothing to zoom into. */
export const ZOOM_FROM = 60

/** Zoom by wheel and drag, and a slider below. */
export function zoom(look: Look, more: object = {}): object[] {
  const label = { color: look.dimmed }
  return [
    { type: 'inside', zoomOnMouseWheel: 'ctrl', ...more },
    { type: 'slider', height: 18, bottom: 4, borderColor: look.line, textStyle: label, brushSelect: false, ...more },
  ]
}

export function legend(look: Look, more: object = {}): object {
  return { textStyle: { color: look.text }, icon: 'roundRect', itemWidth: 12, itemHeight: 12, top: 0, left: 0, ...more }
}

/** Legends of lines show the line itself, dashes and all, without a symbol on it. */
export const LINES = { icon: undefined, itemWidth: 22, itemStyle: { opacity: 0 } }

/** An `itemStyle` with stripes, so that idle is told apart without colour. */
export function hatch(colour: string, over: string): object {
  const decal = { symbol: 'rect', symbolSize: 1, color: over, dashArrayX: [1, 0], dashArrayY: [2, 5], rotation: -Math.PI / 4 }
  return { color: colour, decal }
}
