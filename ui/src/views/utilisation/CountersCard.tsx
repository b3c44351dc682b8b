import { useMemo } from 'react'
import { api } from '../../api/client'
import type { Counters } from '../../api/shapes'
import { Card } from '../../components/Card'
import { CounterChart } from '../../components/CounterChart'
import { EmptyState } from '../../components/EmptyState'
import { Loaded } from '../../components/Loaded'
import { counterText } from '../../lib/counters'
import { WATCH } from '../../lib/recording'
import { count, significant, SPACE } from '../../lib/units'
import { useSelection } from '../../state/address'
import { useTexts } from '../../state/language'
import styles from './Utilisation.module.css'

/** Processor use, resident memory, and what else was counted over time. */
export function CountersCard({ run }: { run: string }) {
  const { utilisation: texts } = useTexts()
  const { rank } = useSelection()
  const query = rank === null ? {} : { rank }
  const counters = api.useQuery('get', '/api/runs/{run}/counters', { params: { path: { run }, query } })
  return (
    <Card title={texts.counters} hint={texts.countersHint} evidence="host_busy data_loading">
      <Loaded query={counters} height={200}>{(found) => <Shown found={found} />}</Loaded>
    </Card>
  )
}

function Shown({ found: { counters, processor } }: { found: Counters }) {
  const { utilisation: texts } = useTexts()
  if (counters.length === 0 && processor === null) return <EmptyState what={texts.noCounters} why={texts.noCountersWhy} code={WATCH} />
  const end = Math.max(0, ...counters.flatMap((counter) => counter.times_ns.at(-1) ?? 0))
  return (
    <div className={styles.counters}>
      {processor !== null && <Processor told={processor} />}
      {counters.map((counter) => (
        <div key={counter.name} className={styles.counter}>
          <h3>{counter.name} <small className="numbers">{texts.counterLine(counterText(counter.mean_value, counter), counterText(counter.max_value, counter))}</small></h3>
          <OneChart counter={counter} end={end} />
        </div>
      ))}
    </div>
  )
}

function OneChart({ counter, end }: { counter: Counters['counters'][number]; end: number }) {
  const alone = useMemo(() => [counter], [counter])
  return <CounterChart label={counter.name} counters={alone} end={end} height={180} named={false} />
}

function Processor({ told }: { told: NonNullable<Counters['processor']> }) {
  const { utilisation: texts } = useTexts()
  const parts = (['user_percent', 'sys_percent', 'io_percent', 'idle_percent'] as const).filter((part) => told[part] !== null)
  return (
    <div className={styles.counter}>
      <h3>{texts.processor} {told.processors !== null && <small>{texts.processorHint(count(told.processors))}</small>}</h3>
      <dl className={styles.processor}>
        {parts.map((part) => <div key={part}><dt>{texts.processorParts[part]}</dt><dd className="numbers">{significant(told[part]!)}{SPACE}%</dd></div>)}
      </dl>
    </div>
  )
}
