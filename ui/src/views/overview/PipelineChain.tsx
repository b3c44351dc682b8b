import type { Pipeline as PipelineAnswer } from '../../api/shapes'
import { WarningIcon } from '../../components/icons'
import { count, significant } from '../../lib/units'
import { useTexts } from '../../state/language'
import styles from './PipelineChain.module.css'

type Queue = PipelineAnswer['queues'][number]

interface PipelineChainProps {
  readonly queues: readonly Queue[]
  /** The stage that holds training up. */
  readonly slow: 'process' | 'send' | 'none' | null
}

/** From the dataset to the step: stages, and how full the queues between them are. */
export function PipelineChain({ queues, slow }: PipelineChainProps) {
  const { overview: texts } = useTexts()
  const filledBy = (stage: string) => queues.filter((queue) => queue.stage === stage)
  return (
    <ol className={styles.chain}>
      <Stage name={texts.process} slow={slow === 'process'} />
      <Between name={texts.hostQueue} queues={filledBy('process')} />
      <Stage name={texts.send} slow={slow === 'send'} />
      <Between name={texts.deviceQueue} queues={filledBy('send')} />
      <Stage name={texts.fetch} slow={false} />
    </ol>
  )
}

function Stage({ name, slow }: { name: string; slow: boolean }) {
  return <li className={styles.stage} data-slow={slow}>{slow && <WarningIcon size={16} />}{name}</li>
}

function Between({ name, queues }: { name: string; queues: readonly Queue[] }) {
  const { overview: texts } = useTexts()
  if (queues.length === 0) return <li className={styles.queue}><strong>{name}</strong><span className={styles.unknown}>{texts.queueUnknown}</span></li>
  return (
    <li className={styles.queue}>
      {queues.map((queue) => (
        <div key={queue.queue} title={queue.queue}>
          <strong>{name}</strong>
          <Filled queue={queue} />
        </div>
      ))}
    </li>
  )
}

function Filled({ queue }: { queue: Queue }) {
  const { overview: texts, pipeline: words } = useTexts()
  const { samples, mean_size: mean, capacity } = queue
  if (mean === null) return <span className={styles.unknown}>{samples === null ? words.wholeOnly : words.noSamples}</span>
  return (
    <>
      <Fill share={queue.usage_share} />
      <span>{capacity === null ? texts.queueFillOnly(significant(mean)) : texts.queueFill(significant(mean), count(capacity))}</span>
      <span data-empty={queue.empty_count !== 0}>{texts.empty} {texts.ofSamples(count(queue.empty_count), count(samples))}</span>
      {queue.full_count !== null && <span>{texts.full} {texts.ofSamples(count(queue.full_count), count(samples))}</span>}
    </>
  )
}

function Fill({ share }: { share: number | null }) {
  if (share === null) return null
  return <span className={styles.fill} aria-hidden="true"><span style={{ width: `${Math.min(1, share) * 100}%` }} /></span>
}
