import { useMemo } from 'react'
import type { MemoryCurve } from '../../api/shapes'
import { Card } from '../../components/Card'
import { CounterChart } from '../../components/CounterChart'
import { isBytes } from '../../lib/counters'
import { useTexts } from '../../state/language'
import { otherCounters } from './totals'

/** Totals over time that are not drawn beside the blocks: those in bytes in one chart, each other in its own. */
export function CountersCard({ curve }: { curve: MemoryCurve }) {
  const { memory: texts } = useTexts()
  const charts = useMemo(() => {
    const counters = otherCounters(curve)
    const inBytes = counters.filter(isBytes)
    const others = counters.filter((counter) => !isBytes(counter)).map((counter) => ({ label: counter.name, counters: [counter] }))
    return inBytes.length > 0 ? [{ label: texts.counters, counters: inBytes }, ...others] : others
  }, [curve, texts])
  if (charts.length === 0) return null
  return (
    <Card title={texts.counters} hint={texts.countersHint} evidence="memory_pressure">
      {charts.map(({ label, counters }) => <CounterChart key={label} label={label} counters={counters} start={curve.start_ns} end={curve.end_ns} height={280} />)}
    </Card>
  )
}
