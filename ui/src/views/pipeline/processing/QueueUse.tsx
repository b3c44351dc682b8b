import type { PipelineOperator } from '../../../api/shapes'
import { kindVariable } from '../../../lib/colours'
import { share } from '../../../lib/units'
import { useTexts } from '../../../state/language'
import type { Graph } from '../model'
import styles from '../Pipeline.module.css'

interface QueueUseProps {
  readonly graph: Graph
  readonly selected: PipelineOperator | null
  readonly onChoose: (op: PipelineOperator) => void
}

/** Average use of each queue, in the order that data takes. */
export function QueueUse({ graph, selected, onChoose }: QueueUseProps) {
  const { pipeline: texts } = useTexts()
  return (
    <ol className={styles.uses}>
      {graph.pipes.filter(({ queue }) => queue !== null).toReversed().map(({ from: { op }, to, queue }) => (
        <li key={op.op_id}>
          <button type="button" aria-pressed={op === selected} onClick={() => onChoose(op)}>
            <span className={styles.between}>{op.name} → {to.op?.name ?? texts.training}</span>
            <span className={styles.useTrack} aria-hidden="true"><span style={{ width: `${100 * (queue!.usage_share ?? 0)}%`, backgroundColor: kindVariable('data') }} /></span>
            <span className="numbers">{share(queue!.usage_share)}</span>
            <small className="numbers">{queue!.empty_share !== null && texts.emptyShare(share(queue!.empty_share))}</small>
          </button>
        </li>
      ))}
    </ol>
  )
}
