import { keepPreviousData } from '@tanstack/react-query'
import { api } from '../../../api/client'
import type { Pipeline, PipelineOperator } from '../../../api/shapes'
import { Card } from '../../../components/Card'
import { EmptyState } from '../../../components/EmptyState'
import { Loaded } from '../../../components/Loaded'
import { useParam, useQueryChoices } from '../../../state/address'
import { useTexts } from '../../../state/language'
import { useWholeReport } from '../../../state/report'
import { curveOf, type Graph, isOfWholeOnly, layOut } from '../model'
import styles from '../Pipeline.module.css'
import { WATCH } from '../../../lib/recording'
import { BottleneckNote } from './BottleneckNote'
import { PipeGraph } from './PipeGraph'
import { QueueAbout } from './QueueAbout'
import { QueueUse } from './QueueUse'

/** The operators that prepare batches, how full the queues between them are, and which one is slow. */
export function Processing({ run, pipeline }: { run: string; pipeline: Pipeline }) {
  const { pipeline: texts } = useTexts()
  const query = useQueryChoices()
  const { data: report } = useWholeReport(run)
  const samples = api.useQuery('get', '/api/runs/{run}/pipeline/samples', { params: { path: { run }, query } }, { placeholderData: keepPreviousData })
  const [chosen, setChosen] = useParam('queue')
  const { operators } = pipeline
  if (operators.length === 0) {
    const code = report?.run.framework === 'mindspore' ? 'mindspore.Profiler(data_process=True)' : WATCH
    return <Card title={texts.graph}><EmptyState what={texts.noOperators} why={texts.noOperatorsHow} code={code} /></Card>
  }
  const withQueue = operators.filter(({ output_queue }) => output_queue !== null)
  const selected = withQueue.find(({ op_id }) => String(op_id) === chosen) ?? firstShown(pipeline, withQueue)
  const choose = (op: PipelineOperator) => setChosen(String(op.op_id))
  const graph = layOut(operators)
  return (
    <div className={styles.cards}>
      <Card title={texts.graph} hint={texts.graphHint} evidence="data_loading">
        {isOfWholeOnly(pipeline) && <p className={styles.note}>{texts.betweenWhole}</p>}
        <PipeGraph graph={graph} slow={pipeline.bottleneck?.op_id ?? null} selected={selected} onChoose={choose} />
        <BottleneckNote run={run} pipeline={pipeline} />
      </Card>
      <div className={styles.pair}>
        {withQueue.length > 0 && <Card title={texts.use} hint={texts.useHint}><QueueUse graph={graph} selected={selected} onChoose={choose} /></Card>}
        {selected !== null && <Loaded query={samples} height={320}>{(known) => <QueueAbout run={run} op={selected} next={nextOf(graph, selected)} curve={curveOf(selected, operators, pipeline, known.queues)} />}</Loaded>}
      </div>
    </div>
  )
}

function nextOf(graph: Graph, op: PipelineOperator): PipelineOperator | null {
  return graph.pipes.find(({ from }) => from.op === op)?.to.op ?? null
}

/** Before one is chosen: the queue behind the slow operator, else the last one. */
function firstShown({ bottleneck }: Pipeline, withQueue: readonly PipelineOperator[]): PipelineOperator | null {
  return withQueue.find(({ op_id }) => op_id === bottleneck?.op_id) ?? withQueue[0] ?? null
}
