import { useCallback } from 'react'
import { api } from '../api/client'
import type { MemoryCurve, RankReport, Report } from '../api/shapes'
import { Card } from '../components/Card'
import { Chart } from '../components/chart/Chart'
import type { Look } from '../components/chart/look'
import { Loaded } from '../components/Loaded'
import { bytes, time } from '../lib/units'
import { useQueryChoices } from '../state/address'
import { useTexts } from '../state/language'
import { curveOption } from '../views/memory/curveOption'
import { totalsOf } from '../views/memory/totals'
import { MemoryCard } from '../views/overview/MemoryCard'
import { CURVE_POINTS } from './asked'

interface MemorySectionProps {
  readonly run: string
  readonly report: Report
  readonly entry: RankReport | null
}

/** How high the memory rises, what lives at its peak, and the curve. */
export function MemorySection({ run, report, entry }: MemorySectionProps) {
  const choices = useQueryChoices()
  const curve = api.useQuery('get', '/api/runs/{run}/memory/curve', { params: { path: { run }, query: { ...choices, points: CURVE_POINTS } } })
  return (
    <>
      <MemoryCard run={run} report={report} />
      <Loaded query={curve} height={320}>{(known) => (known.peak_at_ns === null ? null : <Curve curve={known} peak={known.peak_at_ns} steps={entry?.steps ?? []} />)}</Loaded>
    </>
  )
}

function Curve({ curve, peak, steps }: { curve: MemoryCurve; peak: number; steps: RankReport['steps'] }) {
  const { memory: texts, saved } = useTexts()
  const option = useCallback(
    (look: Look) => ({ ...curveOption({ curve, totals: totalsOf(curve, texts), steps, at: peak, toCapacity: false, seen: null }, look, texts), dataZoom: [] }),
    [curve, peak, steps, texts],
  )
  const table = () => ({ columns: [texts.time, texts.bytes], rows: curve.times_ns.map((ns, place) => [time(ns), bytes(curve.bytes[place])]) })
  return (
    <Card title={[texts.curve, curve.device].filter(Boolean).join(' · ')} hint={saved.capacity}>
      <Chart label={texts.curve} option={option} height={280} table={table} />
    </Card>
  )
}
