import type { PipelineOperator } from '../../../api/shapes'
import { kindVariable } from '../../../lib/colours'
import { share } from '../../../lib/units'
import { useTexts } from '../../../state/language'
import styles from '../Pipeline.module.css'

interface QueueUseProps {
  readonly operators: readonly PipelineOperator[]
  readonly selected: PipelineOperator | null
  readonly onChoose: (op: PipelineOperator) => void
}

/** Average use of each queue, in the order that data takes. */
export function QueueUse({ operators, selected, onChoose }: QueueUseProps) {
  const { pipeline: texts } = useTexts()
  const parentOf = (op: PipelineOperator) => operators.find(({ op_id }) => op_id === op.parent_id)
  return (
    <ol className={styles.uses}>
      {operators.filter(({ output_queue }) => output_queue !== null).toReversed().map((op) => (
        <li key={op.op_id}>
          <button type="button" aria-pressed={op === selected} onClick={() => onChoose(op)}>
            <span className={styles.between}>{op.name} → {parentOf(op)?.name ?? texts.training}</span>
            <span className={styles.useTrack} aria-hidden="true"><span style={{ width: `${100 * (op.output_queue!.usage_share ?? 0)}%`, backgroundColor: kindVariable('data') }} /></span>
            <span className="numbers">{share(op.output_queue!.usage_share)}</span>
            <small className="numbers">{texts.emptyShare(share(op.output_queue!.empty_share))}</small>
          </button>
        </li>
      ))}
    </ol>
  )
}
