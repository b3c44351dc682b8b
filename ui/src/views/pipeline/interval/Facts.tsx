import type { Pipeline } from '../../../api/shapes'
import { Exact } from '../../../components/Exact'
import type { Quantity } from '../../../lib/units'
import { useTexts } from '../../../state/language'
import styles from '../Pipeline.module.css'

/** What waiting for data costs; what is not known is left out. */
export function Facts({ pipeline: { data_bound: bound, start_up_ns: starts } }: { pipeline: Pipeline }) {
  const { pipeline: { facts: texts } } = useTexts()
  const known: readonly (readonly [string, number | null | undefined, Quantity])[] = [
    [texts.meanWait, bound?.mean_wait_ns, 'time'],
    [texts.share, bound?.share_of_step, 'share'],
    [texts.total, bound?.wait_ns, 'time'],
    [texts.batches, bound?.batches, 'count'],
    [texts.waits, bound?.waits, 'count'],
    [texts.first, bound?.first_wait_ns, 'time'],
    [texts.startUp, starts?.length ? Math.max(...starts) : null, 'time'],
  ]
  const shown = known.filter(([, value]) => value != null)
  if (shown.length === 0) return null
  return (
    <dl className={styles.facts}>
      {shown.map(([name, value, as]) => <div key={name}><dt>{name}</dt><dd><Exact value={value} as={as} /></dd></div>)}
    </dl>
  )
}
