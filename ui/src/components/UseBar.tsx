import { kindVariable } from '../lib/colours'
import { exactly, share, time } from '../lib/units'
import type { UseSegment } from '../lib/utilisation'
import { useTexts } from '../state/language'
import { Exact } from './Exact'
import styles from './UseBar.module.css'

/** What a device or stream did with its time, to scale. */
export function UseBar({ segments, label, tall = false }: { segments: readonly UseSegment[]; label: string; tall?: boolean }) {
  const { kinds } = useTexts().utilisation
  const shown = segments.filter(({ ns }) => ns > 0)
  const words = shown.map((each) => `${kinds[each.part]} ${share(each.share)}`).join(', ')
  return (
    <div className={styles.bar} data-tall={tall} role="img" aria-label={`${label}: ${words}`}>
      {shown.map((each) => (
        <span key={each.part} className={`${styles.segment} ${each.pattern}`} data-idle={each.part === 'idle'} style={{ width: `${each.share * 100}%`, backgroundColor: kindVariable(each.kind) }} title={`${kinds[each.part]}: ${time(each.ns)}, ${share(each.share)} (${exactly(each.ns, 'time')})`} />
      ))}
    </div>
  )
}

/** What the parts of the bar are, and how long each took. */
export function UseLegend({ segments }: { segments: readonly UseSegment[] }) {
  const { kinds } = useTexts().utilisation
  return (
    <ul className={styles.legend}>
      {segments.map((each) => (
        <li key={each.part}>
          <span className={`${styles.swatch} ${each.pattern}`} style={{ backgroundColor: kindVariable(each.kind) }} aria-hidden="true" />
          {kinds[each.part]} <span className={`numbers ${styles.value}`}><Exact value={each.ns} as="time" /> · {share(each.share)}</span>
        </li>
      ))}
    </ul>
  )
}
