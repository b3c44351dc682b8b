import type { ECharts } from 'echarts/core'
import { type RefObject, useEffect, useEffectEvent, useRef, useState } from 'react'
import { whenIdle } from '../../lib/idle'
import { baseOption, type ChartOption, type Look } from './look'

/** What was clicked: the place of the item in its series, and the series. */
export interface ChartClick {
  readonly dataIndex: number
  readonly seriesIndex: number
  readonly seriesName: string
  readonly name: string
  /** The item itself, as the option gave it. */
  readonly data?: unknown
}

export interface ChartEvents {
  readonly onClick?: (click: ChartClick) => void
  /** A click anywhere in the plot, as the value of the x axis there. */
  readonly onPlace?: (x: number) => void
  /** What is seen after zooming, as first and last place or value of the x axis. */
  readonly onZoom?: (first: number, last: number) => void
}

/** Draws into the element that gets the ref, after the numbers of the page have shown; null draws nothing. */
export function useEngine(option: ChartOption | null, look: Look, events: ChartEvents): RefObject<HTMLDivElement | null> {
  const place = useRef<HTMLDivElement>(null)
  const [chart, setChart] = useState<ECharts | null>(null)
  const shown = option !== null
  const clicked = useEffectEvent((click: ChartClick) => events.onClick?.(click))
  const placed = useEffectEvent((chart: ECharts, x: number, y: number) => {
    if (events.onPlace && chart.containPixel('grid', [x, y])) events.onPlace(chart.convertFromPixel({ xAxisIndex: 0 }, x))
  })
  const zoomed = useEffectEvent((chart: ECharts) => {
    const [seen] = (chart.getOption().dataZoom ?? []) as { startValue: number; endValue: number }[]
    if (seen) events.onZoom?.(seen.startValue, seen.endValue)
  })

  useEffect(() => {
    const element = place.current
    if (!shown || !element) return
    let made: ECharts | null = null
    let gone = false
    const resized = new ResizeObserver(() => made?.resize())
    const load = () => void import('./engine').then(({ init }) => {
      if (gone) return
      const drawn = init(element, look.scheme === 'dark' ? 'dark' : null)
      drawn.on('click', (click) => clicked(click as unknown as ChartClick))
      drawn.on('datazoom', () => zoomed(drawn))
      drawn.getZr().on('click', ({ offsetX, offsetY }) => placed(drawn, offsetX, offsetY))
      resized.observe(element)
      made = drawn
      setChart(drawn)
    })
    const takeBack = whenIdle(load)
    return () => {
      gone = true
      takeBack()
      resized.disconnect()
      made?.dispose()
      setChart(null)
    }
  }, [look, shown])

  useEffect(() => {
    if (!chart || chart.isDisposed() || option === null) return
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches
    chart.setOption({ ...baseOption(look, still), ...option }, { notMerge: true })
  }, [chart, option, look])

  return place
}
