import type { ReactNode } from 'react'
import type { SliceFacts } from '../../api/shapes'
import { Exact } from '../../components/Exact'
import { useTexts } from '../../state/language'
import styles from './Slice.module.css'

/** What is known of a slice; what is not is left out. */
export function SliceFactList({ slice, rank }: { slice: SliceFacts; rank: number | null }) {
  const { slice: texts } = useTexts()
  const facts: readonly (readonly [string, ReactNode])[] = [
    [texts.start, <Exact key="start" value={slice.start_ns} as="time" />],
    [texts.step, slice.step],
    [texts.phase, slice.phase],
    [texts.rank, rank],
    [texts.device, slice.device],
    [texts.stream, slice.stream],
    [texts.category, slice.category],
    [texts.bytes, slice.bytes === null ? null : <Exact key="bytes" value={slice.bytes} as="bytes" />],
    [texts.operator, slice.operator?.full_name ?? slice.operator?.name],
    [texts.operatorType, slice.operator?.op_type],
    [texts.module, slice.operator?.module],
    [texts.subgraph, slice.operator?.subgraph],
    [texts.correlation, slice.correlation],
    [texts.externalId, slice.external_id],
  ]
  return (
    <dl className={styles.facts}>
      {facts.filter(([, value]) => value != null && value !== '').map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}
    </dl>
  )
}
