import type { OperatorDetails } from '../../../api/shapes'
import { Exact } from '../../../components/Exact'
import type { Quantity } from '../../../lib/units'
import { useTexts } from '../../../state/language'
import styles from './Details.module.css'

type Times = NonNullable<OperatorDetails['host']>

/** Host and device side by side. What a side does not tell is a dash. */
export function SideTimes({ details }: { details: OperatorDetails }) {
  const { operators: texts } = useTexts()
  const names = texts.columns
  const rows: readonly (readonly [string, keyof Times, Quantity])[] = [
    [names.count, 'count', 'count'],
    [names.share, 'share', 'share'],
    [names.self, 'self_ns', 'time'],
    [names.total, 'total_ns', 'time'],
    [names.mean, 'mean_ns', 'time'],
    ['p50', 'p50_ns', 'time'],
    ['p90', 'p90_ns', 'time'],
    [names.min, 'min_ns', 'time'],
    [names.max, 'max_ns', 'time'],
  ]
  return (
    <table className={styles.times}>
      <thead><tr><td /><th scope="col">{texts.details.host}</th><th scope="col">{texts.details.device}</th></tr></thead>
      <tbody>
        {rows.map(([name, key, as]) => (
          <tr key={key}>
            <th scope="row">{name}</th>
            <td><Exact value={details.host?.[key]} as={as} /></td>
            <td><Exact value={details.device?.[key]} as={as} /></td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
