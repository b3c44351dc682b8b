import { Link } from 'wouter'
import type { OperatorDetails } from '../../../api/shapes'
import { ShareBar } from '../../../components/ShareBar'
import { time } from '../../../lib/units'
import { useTexts } from '../../../state/language'
import { useSliceAddress } from '../../../state/slices'
import styles from './Details.module.css'

/** The longest executions; each opens its slice. */
export function Longest({ executions }: { executions: OperatorDetails['longest'] }) {
  const { operators: { details: texts } } = useTexts()
  const address = useSliceAddress()
  const most = executions[0]?.dur_ns ?? 0
  return (
    <ol className={styles.longest}>
      {executions.map(({ slice_id, name, step, start_ns, dur_ns }) => (
        <li key={slice_id}>
          <Link href={address(slice_id)} title={name}>{name}</Link>
          <small className="numbers">{step === null ? '' : texts.step(step)}</small>
          <small className="numbers">{texts.at(time(start_ns))}</small>
          <ShareBar value={most > 0 ? dur_ns / most : 0} text={time(dur_ns)} />
        </li>
      ))}
    </ol>
  )
}
