import { useCallback, useMemo } from 'react'
import type { QueueSamples } from '../../../api/shapes'
import { Card } from '../../../components/Card'
import { Chart } from '../../../components/chart/Chart'
import { type ChartOption, legend, type Look, nameAxis, tooltip, valueAxis, zoom, ZOOM_FROM } from '../../../components/chart/look'
import { exactly, time } from '../../../lib/units'
import { useTexts } from '../../../state/language'
import styles from '../Pipeline.module.css'

type Wait = QueueSamples['waits'][number]

interface Line {
  readonly name: string
  readonly values: readonly (number | null)[]
}

interface TimesProps {
  readonly waits: readonly Wait[]
  /** Whether batches are sent on to a queue of the device. */
  readonly sends: boolean
  /** The first batch, for which workers start, does not count in the mean. */
  readonly firstIsApart: boolean
  /** Whether steps are chosen. */
  readonly isPart: boolean
}

/** How long fetching and, where it was measured, sending took, by step or batch. */
export function Times({ waits, sends, firstIsApart, isPart }: TimesProps) {
  const { pipeline: texts } = useTexts()
  const moved = useMemo(() => movingLines(waits, sends, texts.lines), [waits, sends, texts])
  const waiting = useMemo(() => [{ name: texts.wait, values: waits.map((each) => each.wait_ns) }], [waits, texts])
  // Without a queue of the device training itself gets what was processed.
  const [sending, fetching] = sends ? [moved, waiting] : [[], moved.length > 0 ? moved : waiting]
  if (waits.length === 0) return <Card title={texts.times}><p className={styles.note}>{isPart ? texts.noWaitsPart : texts.noTimes}</p></Card>
  const at = waits.map(({ step }) => step)
  const apart = firstIsApart && waits.length > 1 ? 1 : 0
  return (
    <div className={styles.pair}>
      {sending.length > 0 && <Card title={texts.sendTimes} hint={averages(sending, 0, texts.mean)}><TimeChart label={texts.sendTimes} lines={sending} steps={at} /></Card>}
      <Card title={texts.fetchTimes} hint={[averages(fetching, apart, texts.mean), apart > 0 ? texts.withoutFirst : null].filter(Boolean).join(' · ')}><TimeChart label={texts.fetchTimes} lines={fetching} steps={at} /></Card>
    </div>
  )
}

/** What a batch takes on its way from the host queue: getting it, pushing it on, both. */
function movingLines(waits: readonly Wait[], sends: boolean, names: { get: string; push: string; total: string }): Line[] {
  if (!waits.some(({ push_ns, total_ns }) => push_ns !== null || total_ns !== null)) return []
  const get = waits.map(({ wait_ns, push_ns, total_ns }) => (!sends ? wait_ns : push_ns === null || total_ns === null ? null : total_ns - push_ns))
  return [
    { name: names.get, values: get },
    { name: names.push, values: waits.map(({ push_ns }) => push_ns) },
    { name: names.total, values: waits.map(({ total_ns }) => total_ns) },
  ]
}

function averages(lines: readonly Line[], from: number, words: (name: string, time: string) => string): string {
  return lines.map(({ name, values }) => words(name, time(meanOf(values.slice(from))))).join(' · ')
}

function meanOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : Math.round(known.reduce((sum, value) => sum + value, 0) / known.length)
}

function TimeChart({ label, lines, steps }: { label: string; lines: readonly Line[]; steps: readonly number[] }) {
  const { terms } = useTexts()
  const step = terms.step.name
  const option = useCallback((look: Look) => chart(look, lines, steps, step), [lines, steps, step])
  const table = () => ({
    columns: [step, ...lines.map(({ name }) => name)],
    rows: steps.map((number, at) => [number, ...lines.map(({ values }) => exactly(values[at], 'time'))]),
  })
  return <Chart label={label} option={option} table={table} height={240} />
}

function chart(look: Look, lines: readonly Line[], steps: readonly number[], step: string): ChartOption {
  const zooms = steps.length > ZOOM_FROM
  return {
    legend: legend(look, { show: lines.length > 1 }),
    grid: { left: 8, right: 16, top: 36, bottom: zooms ? 40 : 24, containLabel: true },
    tooltip: tooltip(look, { valueFormatter: (value: number | null) => time(value) }),
    xAxis: nameAxis(look, steps, { name: step, nameLocation: 'middle', nameGap: 26 }),
    yAxis: valueAxis(look, 'time', { splitNumber: 4 }),
    ...(zooms ? { dataZoom: zoom(look) } : {}),
    series: lines.map(({ name, values }, at) => ({
      type: 'line',
      name,
      data: [...values],
      symbol: zooms ? 'none' : ['circle', 'rect', 'triangle'][at],
      symbolSize: 6,
      lineStyle: { width: 1.6, type: (['solid', 'dashed', 'dotted'] as const)[at] },
      ...(lines.length === 1 ? { color: look.kinds.data, areaStyle: { opacity: 0.12 } } : {}),
    })),
  }
}
