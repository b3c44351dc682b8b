import type { CounterCurve } from '../../api/shapes'
import { Card } from '../../components/Card'
import { CounterChart } from '../../components/CounterChart'
import { isBytes } from '../../lib/counters'
import { useTexts } from '../../state/language'

/** Totals over time: those in bytes in one chart, each other in its own. */
export function CountersCard({ counters, end }: { counters: readonly CounterCurve[]; end: number }) {
  const { memory: texts } = useTexts()
  if (counters.length === 0) return null
  const inBytes = counters.filter(isBytes)
  const others = counters.filter((counter) => !isBytes(counter))
  return (
    <Card title={texts.counters} hint={texts.countersHint} evidence="memory_pressure">
      {inBytes.length > 0 && <CounterChart label={texts.counters} counters={inBytes} end={end} height={280} />}
      {others.map((counter) => <CounterChart key={counter.name} label={counter.name} counters={[counter]} end={end} height={200} />)}
    </Card>
  )
}
