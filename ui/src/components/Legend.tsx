import type { Pattern } from '../lib/budget'
import { type Kind, kindVariable } from '../lib/colours'
import styles from './Legend.module.css'

export interface LegendEntry {
  readonly name: string
  readonly kind: Kind
  readonly pattern: Pattern
}

/** What colours and patterns of a picture mean; wraps where a drawn legend would overlap. */
export function Legend({ entries }: { entries: readonly LegendEntry[] }) {
  return (
    <ul className={styles.legend}>
      {entries.map(({ name, kind, pattern }) => (
        <li key={name}>
          <span className={`${styles.swatch} ${pattern}`} style={{ backgroundColor: kindVariable(kind) }} aria-hidden="true" />
          {name}
        </li>
      ))}
    </ul>
  )
}
