import type { DataQueue, Pipeline } from '../../../api/shapes'
import { WarningIcon } from '../../../components/icons'
import { count, share, significant } from '../../../lib/units'
import { useTexts } from '../../../state/language'
import type { Texts } from '../../../texts/catalogues'
import { chainOf, emptyShare, isHarmless, type Link } from '../model'
import styles from './Chain.module.css'

/** Stages with the queues between them; the slow one is marked, and said in words below. */
export function Chain({ pipeline }: { pipeline: Pipeline }) {
  const { pipeline: texts } = useTexts()
  const chain = chainOf(pipeline)
  const verdict = pipeline.stage_verdict
  return (
    <>
      <ol className={styles.chain} aria-label={texts.chain}>
        {chain.map((link) => (
          <LinkOfChain key={link.stage} link={link} slow={verdict?.stage === link.stage} />
        ))}
      </ol>
      {verdict !== null && (
        <p className={styles.verdict} data-stage={verdict.stage}>
          {verdict.stage !== 'none' && <WarningIcon size={18} />}
          <span>{verdictWords(pipeline, verdict.stage, texts)}</span>
        </p>
      )}
    </>
  )
}

function verdictWords(pipeline: Pipeline, stage: 'process' | 'send' | 'none', texts: Texts['pipeline']): string {
  const { data_bound: bound, bottleneck } = pipeline
  return [
    texts.verdicts[stage],
    stage === 'process' && bottleneck !== null && texts.seeOperators,
    stage !== 'none' && isHarmless(pipeline) && texts.harmless(count(bound!.waits), count(bound!.batches)),
  ].filter(Boolean).join(' ')
}

function LinkOfChain({ link, slow }: { link: Link; slow: boolean }) {
  const { pipeline: texts } = useTexts()
  return (
    <>
      <li className={styles.stage} data-slow={slow}>
        <strong>{texts.stages[link.stage].name}</strong>
        <span>{texts.stages[link.stage].what}</span>
        {slow && <em>{texts.slowest}</em>}
      </li>
      {link.stage !== 'fetch' && (
        <li className={styles.queues}>
          {link.queues.length === 0 ? <Unknown queue="host" why={texts.queueUnknown} /> : link.queues.map((queue) => <QueueOfChain key={queue.queue} queue={queue} />)}
        </li>
      )}
    </>
  )
}

function QueueOfChain({ queue }: { queue: DataQueue }) {
  const { pipeline: texts } = useTexts()
  if (!queue.samples || queue.mean_size === null) return <Unknown queue={queue.queue} why={queue.samples === null ? texts.wholeOnly : texts.noSamples} />
  const empty = emptyShare(queue)
  const full = queue.full_count === null ? null : queue.full_count / queue.samples
  const size = texts.holds(significant(queue.mean_size), queue.capacity === null ? null : count(queue.capacity))
  return (
    <div className={styles.queue}>
      <strong>{texts.queueName(queue.queue)}</strong>
      <div className={styles.pipe} data-unknown={queue.usage_share === null} title={size}>
        <span style={{ width: `${100 * (queue.usage_share ?? 0)}%` }} />
      </div>
      <dl className="numbers">
        <div><dt>{texts.empty}</dt><dd>{share(empty)}</dd><dd>{texts.ofAll(count(queue.empty_count), count(queue.samples))}</dd></div>
        <div><dt>{texts.full}</dt><dd>{share(full)}</dd><dd>{queue.full_count === null ? '' : texts.ofAll(count(queue.full_count), count(queue.samples))}</dd></div>
      </dl>
      <small className="numbers">{size}</small>
    </div>
  )
}

function Unknown({ queue, why }: { queue: string; why: string }) {
  const { pipeline: texts } = useTexts()
  return (
    <div className={styles.queue}>
      <strong>{texts.queueName(queue)}</strong>
      <div className={styles.pipe} data-unknown="true"><span /></div>
      <small>{why}</small>
    </div>
  )
}
