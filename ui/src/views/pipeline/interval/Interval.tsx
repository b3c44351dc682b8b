import { keepPreviousData } from '@tanstack/react-query'
import { api } from '../../../api/client'
import type { Pipeline } from '../../../api/shapes'
import { Card } from '../../../components/Card'
import { CodeLine } from '../../../components/CodeLine'
import { Loaded } from '../../../components/Loaded'
import { useQueryChoices } from '../../../state/address'
import { useTexts } from '../../../state/language'
import styles from '../Pipeline.module.css'
import { QueueCurve } from '../QueueCurve'
import { WATCH } from '../../../lib/recording'
import { Chain } from './Chain'
import { Facts } from './Facts'
import { Times } from './Times'

/** How batches reach training: the chain, how full its queues are, how long it waits. */
export function Interval({ run, pipeline }: { run: string; pipeline: Pipeline }) {
  const { pipeline: texts } = useTexts()
  const query = useQueryChoices()
  const samples = api.useQuery('get', '/api/runs/{run}/pipeline/samples', { params: { path: { run }, query } }, { placeholderData: keepPreviousData })
  return (
    <div className={styles.cards}>
      <Card title={texts.chain} hint={texts.chainHint} evidence="data_loading">
        <Chain pipeline={pipeline} />
        <Facts pipeline={pipeline} />
      </Card>
      {pipeline.queues.length === 0 ? (
        <Card title={texts.queueSizes}>
          <p className={styles.note}>{texts.noQueues}</p>
          <CodeLine code={WATCH} />
        </Card>
      ) : (
        <div className={styles.pair}>
          {pipeline.queues.map((queue) => (
            <Card key={queue.queue} title={texts.queueSize(texts.queueName(queue.queue))} hint={queue.samples ? texts.queueFacts(queue.samples, queue.empty_count ?? 0, queue.full_count) : undefined}>
              <QueueCurve run={run} queue={queue.queue} mean={queue.mean_size} />
            </Card>
          ))}
        </div>
      )}
      <Loaded query={samples} height={260}>{(known) => <Times waits={known.waits} sends={pipeline.queues.some(({ stage }) => stage === 'send')} firstIsApart={pipeline.data_bound?.first_wait_ns != null} isPart={pipeline.range !== null} />}</Loaded>
    </div>
  )
}
