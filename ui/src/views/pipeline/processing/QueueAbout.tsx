import type { PipelineOperator } from '../../../api/shapes'
import { Card } from '../../../components/Card'
import { Exact } from '../../../components/Exact'
import { count, share, significant, time } from '../../../lib/units'
import { useTexts } from '../../../state/language'
import styles from '../Pipeline.module.css'
import { QueueCurve } from '../QueueCurve'

interface QueueAboutProps {
  readonly run: string
  /** The operator that fills the queue. */
  readonly op: PipelineOperator
  /** The one that empties it; null stands for training. */
  readonly next: PipelineOperator | null
  /** Name of its curve. */
  readonly curve: string | null
}

/** The chosen queue over time, and the operators at both ends. */
export function QueueAbout({ run, op, next, curve }: QueueAboutProps) {
  const { pipeline: texts } = useTexts()
  const queue = op.output_queue!
  const holds = queue.mean_size === null ? null : texts.holds(significant(queue.mean_size), queue.capacity === null ? null : count(queue.capacity))
  const hint = [holds, queue.empty_share === null ? null : texts.emptyShare(share(queue.empty_share))].filter(Boolean).join(' · ')
  return (
    <Card title={texts.between(op.name, next?.name ?? texts.training)} hint={hint}>
      {curve === null ? <p className={styles.note}>{texts.noCurve}</p> : <QueueCurve run={run} queue={curve} mean={queue.mean_size} />}
      <div className={styles.ends}>
        <End op={op} title={texts.fills} />
        {next === null ? <div className={styles.end}><h3>{texts.empties}</h3><p>{texts.training}</p></div> : <End op={next} title={texts.empties} />}
      </div>
    </Card>
  )
}

function End({ op, title }: { op: PipelineOperator; title: string }) {
  const { pipeline: texts } = useTexts()
  const { operator: words } = texts
  return (
    <div className={styles.end}>
      <h3>{title}</h3>
      <p>{op.name}</p>
      <dl>
        <div><dt>{words.id}</dt><dd>{op.op_id}</dd></div>
        <div><dt>{words.type}</dt><dd>{op.op_type}</dd></div>
        <div><dt>{words.workers}</dt><dd><Exact value={op.workers} as="count" /></dd></div>
        {op.count !== null && <div><dt>{words.batches}</dt><dd><Exact value={op.count} as="count" /></dd></div>}
        {op.total_ns !== null && op.count ? <div><dt>{words.perBatch}</dt><dd title={time(op.total_ns)}>{time(op.total_ns / op.count)}</dd></div> : null}
      </dl>
    </div>
  )
}
