import { keepPreviousData } from '@tanstack/react-query'
import { api } from '../../api/client'
import type { Pipeline as PipelineAnswer } from '../../api/shapes'
import { Card } from '../../components/Card'
import { EmptyState } from '../../components/EmptyState'
import { Answer } from '../../components/Headline'
import { Loaded } from '../../components/Loaded'
import { Tabs } from '../../components/Tabs'
import { howToRecord, WATCH } from '../../lib/recording'
import { count, share, time } from '../../lib/units'
import { useParam, useQueryChoices } from '../../state/address'
import { useTexts } from '../../state/language'
import { useWholeReport } from '../../state/report'
import type { PageProps } from '../pages'
import { isFirstOnly, isTold } from './model'
import styles from './Pipeline.module.css'
import { Processing } from './processing/Processing'
import { Interval } from './interval/Interval'

/** Whether training waits for data, and where it is held up. */
export default function Pipeline({ run }: PageProps) {
  const query = useQueryChoices()
  const pipeline = api.useQuery('get', '/api/runs/{run}/pipeline', { params: { path: { run }, query } }, { placeholderData: keepPreviousData })
  return <Loaded query={pipeline} height={420}>{(known) => (isTold(known) ? <Known run={run} pipeline={known} /> : <Nothing run={run} />)}</Loaded>
}

function Nothing({ run }: { run: string }) {
  const { pipeline: texts } = useTexts()
  const { data: report } = useWholeReport(run)
  const told = howToRecord(report, 'data queues')
  return (
    <Card title={texts.title}>
      <EmptyState what={texts.none} why={texts.noneHow} code={told?.startsWith('mindspore') ? told : WATCH} />
    </Card>
  )
}

const TABS = ['interval', 'processing'] as const

function Known({ run, pipeline }: { run: string; pipeline: PipelineAnswer }) {
  const { pipeline: texts } = useTexts()
  const [chosen, choose] = useParam('tab')
  const tab = chosen === 'processing' ? 'processing' : 'interval'
  return (
    <>
      <Headline pipeline={pipeline} />
      <div className={styles.tabs}>
        <Tabs label={texts.title} tabs={TABS.map((id) => ({ id, name: texts.tabs[id] }))} chosen={tab} onChoose={(id) => choose(id === 'interval' ? null : id)} />
      </div>
      {tab === 'interval' ? <Interval run={run} pipeline={pipeline} /> : <Processing run={run} pipeline={pipeline} />}
    </>
  )
}

const HARDLY = 0.01

function Headline({ pipeline: { data_bound: bound, queues, range } }: { pipeline: PipelineAnswer }) {
  const { pipeline: texts } = useTexts()
  if (bound === null && range !== null) return <Answer>{texts.noWaitsPart}</Answer>
  if (bound === null) return <Answer>{queues.length > 0 ? texts.noWaits : texts.noWaitsNoQueues}</Answer>
  if (isFirstOnly(bound)) return <Answer>{texts.firstOnly(time(bound.first_wait_ns))}</Answer>
  const part = bound.share_of_step
  const waited = bound.mean_wait_ns === null ? time(bound.wait_ns) : time(bound.mean_wait_ns)
  const words = part !== null && part < HARDLY ? texts.hardly(waited, share(part)) : texts.waits(waited, part === null ? null : share(part))
  return (
    <Answer>
      {words}
      {bound.waits !== null && ` ${texts.without(count(bound.waits), count(bound.batches))}`}
    </Answer>
  )
}
