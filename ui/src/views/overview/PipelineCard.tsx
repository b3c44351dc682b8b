import { keepPreviousData } from '@tanstack/react-query'
import { api } from '../../api/client'
import type { Pipeline as PipelineAnswer, Report } from '../../api/shapes'
import { Card } from '../../components/Card'
import { EmptyState } from '../../components/EmptyState'
import { Loaded } from '../../components/Loaded'
import { PageLink } from '../../components/PageLink'
import { codeThatRecords } from '../../lib/recording'
import { useQueryChoices, useSelection } from '../../state/address'
import { useTexts } from '../../state/language'
import { entryOf } from '../../state/report'
import styles from './Overview.module.css'
import { PipelineChain } from './PipelineChain'
import { idleForData, waitWords } from './waits'

/** Whether training waits for data, and where the data is held up. */
export function PipelineCard({ run, report }: { run: string; report: Report }) {
  const { overview: texts } = useTexts()
  const choices = useQueryChoices()
  const { rank } = useSelection()
  const query = api.useQuery('get', '/api/runs/{run}/pipeline', { params: { path: { run }, query: choices } }, { placeholderData: keepPreviousData })
  return (
    <Card title={texts.dataPipeline} actions={<PageLink run={run} page="pipeline" />} evidence="data_loading data_transfer">
      <Loaded query={query} height={200}>{(pipeline) => <Pipeline pipeline={pipeline} report={report} idle={idleForData(entryOf(report, rank))} />}</Loaded>
    </Card>
  )
}

function Pipeline({ pipeline, report, idle }: { pipeline: PipelineAnswer; report: Report; idle: number | null }) {
  const all = useTexts()
  const { overview: texts } = all
  const words = waitWords(pipeline, idle, all)
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
