import { keepPreviousData } from '@tanstack/react-query'
import { api } from '../../api/client'
import type { Pipeline as PipelineAnswer, Report } from '../../api/shapes'
import { Card } from '../../components/Card'
import { EmptyState } from '../../components/EmptyState'
import { Loaded } from '../../components/Loaded'
import { PageLink } from '../../components/PageLink'
import { codeThatRecords } from '../../lib/recording'
import { count, share, time } from '../../lib/units'
import { useQueryChoices } from '../../state/address'
import { useTexts } from '../../state/language'
import type { Texts } from '../../texts/catalogues'
import { isFirstOnly } from '../pipeline/model'
import styles from './Overview.module.css'
import { PipelineChain } from './PipelineChain'

/** Whether training waits for data, and where the data is held up. */
export function PipelineCard({ run, report }: { run: string; report: Report }) {
  const { overview: texts } = useTexts()
  const choices = useQueryChoices()
  const query = api.useQuery('get', '/api/runs/{run}/pipeline', { params: { path: { run }, query: choices } }, { placeholderData: keepPreviousData })
  return (
    <Card title={texts.dataPipeline} actions={<PageLink run={run} page="pipeline" />} evidence="data_loading data_transfer">
      <Loaded query={query} height={200}>{(pipeline) => <Pipeline pipeline={pipeline} report={report} />}</Loaded>
    </Card>
  )
}

function Pipeline({ pipeline, report }: { pipeline: PipelineAnswer; report: Report }) {
  const all = useTexts()
  const { overview: texts } = all
  const words = waitWords(pipeline, all)
  const verdict = pipeline.stage_verdict
  return (
    <>
      {words !== null && <p className={styles.says}>{words}</p>}
      {pipeline.queues.length > 0 ? (
        <PipelineChain queues={pipeline.queues} slow={verdict?.stage ?? null} />
      ) : (
        <EmptyState what={texts.noQueues} why={texts.noQueuesWhy} code={codeThatRecords(report, 'data queues')} />
      )}
      {verdict !== null && <p className={styles.says} title={verdict.reason}>{texts.verdict[verdict.stage]}</p>}
      {pipeline.bottleneck !== null && <p className={styles.says} title={pipeline.bottleneck.reason}>{texts.slowOperator(pipeline.bottleneck.name)}</p>}
    </>
  )
}

function waitWords({ data_bound: bound }: PipelineAnswer, { overview: texts, pipeline }: Texts): string | null {
  if (bound === null) return null
  if (isFirstOnly(bound)) return pipeline.firstOnly(time(bound.first_wait_ns))
  const waited = bound.share_of_step === null ? texts.waitsOnly(time(bound.wait_ns)) : texts.waits(time(bound.wait_ns), share(bound.share_of_step))
  const empty = bound.waits === null ? null : texts.emptyBatches(count(bound.waits), count(bound.batches))
  return [bound.wait_ns === 0 ? texts.noWaits : waited, empty].filter(Boolean).join(' ')
}
