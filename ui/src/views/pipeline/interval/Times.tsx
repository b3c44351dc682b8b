import { useCallback, useMemo } from 'react'
import type { QueueSamples } from '../../../api/shapes'
import { Card } from '../../../components/Card'
import { Chart } from '../../../components/chart/Chart'
import { type ChartOption, legend, type Look, nameAxis, tooltip, valueAxis, zoom } from '../../../components/chart/look'
import { holdsStep, parseSteps } from '../../../lib/ranges'
import { exactly, time } from '../../../lib/units'
import { useSelection } from '../../../state/address'
import { useTexts } from '../../../state/language'
import styles from '../Pipeline.module.css'

type Wait = QueueSamples['waits'][number]

interface Line {
  readonly name: string
  readonly values: readonly (number | null)[]
}

const ZOOM_FROM = 60

/** How long fetching and, where it was measured, sending took, by step or batch. */
export function Times({ waits, sends }: { waits: readonly Wait[]; sends: boolean }) {
  const { pipeline: texts } = useTexts()
  const { steps } = useSelection()
  const ranges = useMemo(() => (steps === null ? null : parseSteps(steps)), [steps])
  const shown = useMemo(() => waits.filter(({ step }) => holdsStep(ranges, step)), [waits, ranges])
  const fetching = useMemo(() => [{ name: texts.wait, values: shown.map((each) => each.wait_ns) }], [shown, texts])
  const sending = useMemo(() => sendingLines(shown, sends, texts.lines), [shown, sends, texts])
  if (waits.length === 0) return <Card title={texts.times}><p className={styles.note}>{texts.noTimes}</p></Card>
  const at = shown.map(({ step }) => step)
  return (
    <div className={styles.pair}>
      {sending.length > 0 && <Card title={texts.sendTimes} hint={averages(sending, texts.mean)}><TimeChart label={texts.sendTimes} lines={sending} steps={at} /></Card>}
      <Card title={texts.fetchTimes} hint={averages(fetching, texts.mean)}><TimeChart label={texts.fetchTimes} lines={fetching} steps={at} /></Card>
    </div>
  )
}

/** What sending a batch takes: getting it from the host queue, pushing it on, both. */
function sendingLines(waits: readonly Wait[], sends: boolean, names: { get: string; push: string; total: string }): Line[] {
  if (!waits.some(({ push_ns, total_ns }) => push_ns !== null || total_ns !== null)) return []
  const get = waits.map(({ wait_ns, push_ns, total_ns }) => (!sends ? wait_ns : push_ns === null || total_ns === null ? null : total_ns - push_ns))
  return [
    { name: names.get, values: get },
    { name: names.push, values: waits.map(({ push_ns }) => push_ns) },
    { name: names.total, values: waits.map(({ total_ns }) => total_ns) },
  ]
}

function averages(lines: readonly Line[], words: (name: string, time: string) => string): string {
  return lines.map(({ name, values }) => words(name, time(meanOf(values)))).join(' · ')
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
      symbol: steps.length > ZOOM_FROM ? 'none' : ['circle', 'rect', 'triangle'][at],
      symbolSize: 6,
      lineStyle: { width: 1.6, type: (['solid', 'dashed', 'dotted'] as const)[at] },
      ...(lines.length === 1 ? { color: look.kinds.data, areaStyle: { opacity: 0.12 } } : {}),
    })),
  }
}
