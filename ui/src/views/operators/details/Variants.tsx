import type { OperatorDetails } from '../../../api/shapes'
import { Exact } from '../../../components/Exact'
import { Tensors } from '../../../frame/slice/SliceSource'
import { useTexts } from '../../../state/language'
import styles from './Details.module.css'

/** Inputs and outputs; where there were several shapes, each with its executions and time, most time first. */
export function Variants({ details }: { details: OperatorDetails }) {
  const { operators: { details: texts } } = useTexts()
  const { variants } = details
  if (variants.length === 1) return <Tensors inputs={variants[0]!.inputs} outputs={variants[0]!.outputs} />
  return (
    <div className={styles.variants}>
      {variants.map(({ inputs, outputs, count, total_ns }, at) => (
        <details key={at} open={at === 0}>
          <summary>
            <span className={styles.shapes}>{inputs.map(({ shape }) => `[${shape ?? '?'}]`).join(' ') || '–'}</span>
            <span className="numbers">{texts.executions}: <Exact value={count} as="count" /></span>
            <Exact value={total_ns} as="time" className={styles.right ?? ''} />
          </summary>
          <Tensors inputs={inputs} outputs={outputs} />
        </details>
      ))}
      {details.variants_left_out > 0 && <p className={styles.note}>{texts.leftOut(details.variants_left_out)}</p>}
    </div>
  )
}
