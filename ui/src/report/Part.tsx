import type { ReactNode } from 'react'
import styles from './Report.module.css'

/** A part of the report. On paper it begins a page, unless it flows. */
export function Part({ title, flows = false, children }: { title?: string; flows?: boolean; children: ReactNode }) {
  return (
    <div className={styles.part} data-flows={flows}>
      {title !== undefined && <h2 className={styles.title}>{title}</h2>}
      {children}
    </div>
  )
}
