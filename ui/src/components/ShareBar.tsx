import type { Kind } from '../lib/colours'
import { kindVariable } from '../lib/colours'
import { share } from '../lib/units'
import styles from './ShareBar.module.css'

/** A share as text, with a bar behind it for comparing down a column. */
export function ShareBar({ value, kind = 'compute', text }: { value: number | null; kind?: Kind; text?: string }) {
  const width = `${Math.max(0, Math.min(1, value ?? 0)) * 100}%`
  return (
    <span className={`numbers ${styles.cell}`}>
      <span className={styles.track} aria-hidden="true">
        <span className={styles.bar} style={{ width, background: kindVariable(kind) }} />
      </span>
      <span className={styles.text}>{text ?? share(value)}</span>
    </span>
  )
}
