import { keepPreviousData } from '@tanstack/react-query'
import { useCallback, useMemo } from 'react'
import { api } from '../../api/client'
import type { QueueSamples } from '../../api/shapes'
import { Chart } from '../../components/chart/Chart'
import { type ChartOption, type Look, nameAxis, tooltip, valueAxis, zoom, ZOOM_FROM } from '../../components/chart/look'
import { Loaded } from '../../components/Loaded'
import { count, significant, time } from '../../lib/units'
import { useQueryChoices } from '../../state/address'
import { useTexts } from '../../state/language'
import styles from './Pipeline.module.css'

const HEIGHT = 240

/** How many batches a queue holds over steps, or over time where the source looked at intervals. */
export function QueueCurve({ run, queue, mean }: { run: string; queue: string; mean: number | null }) {
  const query = { queue, ...useQueryChoices() }
  const samples = api.useQuery('get', '/api/runs/{run}/pipeline/samples', { params: { path: { run }, query } }, { placeholderData: keepPreviousData })
  return <Loaded query={samples} height={HEIGHT}>{(known) => (known.sample_count ? <Curve known={known} mean={mean} /> : <NoSamples known={known} />)}</Loaded>
}

function NoSamples({ known }: { known: QueueSamples }) {
  const { pipeline: texts } = useTexts()
  return <p className={styles.note}>{known.sample_count === null ? texts.wholeOnly : texts.noSamples}</p>
}

function Curve({ known, mean }: { known: QueueSamples; mean: number | null }) {
  const { pipeline: texts, terms } = useTexts()
  const shown = known.samples
  const axis = useMemo(() => axisOf(shown, { step: terms.step.name, time: texts.time, sample: texts.sample }), [shown, terms, texts])
  const words = useMemo(() => ({ size: texts.size, capacity: texts.capacity, mean: texts.average }), [texts])
  const option = useCallback((look: Look) => chart(look, { sizes: shown.map(({ size }) => size), axis, capacity: known.capacity, mean, words }), [shown, axis, known.capacity, mean, words])
  const label = texts.queueSize(texts.queueName(known.queue ?? ''))
  const table = () => ({ columns: [axis.name, texts.size], rows: shown.map(({ size }, at) => [axis.labels[at]!, size] as const) })
  return <Chart label={label} option={option} table={table} height={HEIGHT} />
}

interface Axis {
  readonly name: string
  readonly labels: readonly (string | number)[]
}

/** Steps where samples have them, else times, else their order. */
function axisOf(samples: QueueSamples['samples'], names: { step: string; time: string; sample: string }): Axis {
  if (samples.every(({ step }) => step !== null)) return { name: names.step, labels: samples.map(({ step }) => step!) }
  if (samples.every(({ ts_ns }) => ts_ns !== null)) return { name: names.time, labels: samples.map(({ ts_ns }) => time(ts_ns)) }
  return { name: names.sample, labels: samples.map((_, at) => at + 1) }
}

interface Drawn {
  readonly sizes: readonly number[]
  readonly axis: Axis
  readonly capacity: number | null
  readonly mean: number | null
  readonly words: { readonly size: string; readonly capacity: string; readonly mean: string }
}

function chart(look: Look, { sizes, axis, capacity, mean, words }: Drawn): ChartOption {
  const zooms = sizes.length > ZOOM_FROM
  const line = (value: number, name: string, type: 'solid' | 'dashed', position: string) => ({
    yAxis: value,
    lineStyle: { color: look.dimmed, type },
    label: { position, color: look.dimmed, formatter: `${name} ${Number.isInteger(value) ? count(value) : significant(value)}` },
  })
  const most = Math.max(capacity ?? 0, ...sizes, 1)
  return {
    grid: { left: 8, right: 16, top: 36, bottom: zooms ? 40 : 24, containLabel: true },
    tooltip: tooltip(look, { valueFormatter: (value: number) => count(value) }),
    xAxis: nameAxis(look, axis.labels, { name: axis.name, nameLocation: 'middle', nameGap: 26 }),
    yAxis: valueAxis(look, 'count', { name: words.size, min: 0, max: most, minInterval: 1, splitNumber: 4, nameTextStyle: { color: look.dimmed, align: 'left' } }),
    ...(zooms ? { dataZoom: zoom(look) } : {}),
    series: [{
      type: 'line',
      name: words.size,
      step: 'middle',
      data: [...sizes],
      symbol: zooms ? 'none' : 'circle',
      symbolSize: 5,
      color: look.kinds.data,
      lineStyle: { width: 1.6 },
      areaStyle: { opacity: 0.14 },
      markLine: {
        silent: true,
        symbol: 'none',
        animation: false,
        data: [
          ...(capacity === null ? [] : [line(capacity, words.capacity, 'solid', 'insideEndTop')]),
          ...(mean === null ? [] : [line(mean, words.mean, 'dashed', 'insideStartTop')]),
        ],
      },
    }],
  }
}
