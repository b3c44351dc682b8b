import type { ReactNode } from 'react'
import styles from './Headline.module.css'

export interface HeadlineProps {
  /** The question that the page answers; names the part for who hears it. */
  readonly label: string
  /** The answer, in one sentence. */
  readonly words: ReactNode
  /** What limits or explains it. */
  readonly notes?: readonly (string | null | false | undefined)[]
  /** The one picture. */
  readonly children?: ReactNode
}

/** The answer of a page, at its top. */
export function Headline({ label, words, notes = [], children }: HeadlineProps) {
  const told = notes.filter(Boolean)
  return (
    <section className={styles.top} aria-label={label}>
      <p className={styles.headline} data-testid="headline">{words}</p>
      {told.length > 0 && <p className={styles.more}>{told.join(' · ')}</p>}
      {children !== undefined && <div className={styles.body}>{children}</div>}
    </section>
  )
}

/** The same sentence where it stands by itself. */
export function Answer({ children, title }: { children: ReactNode; title?: string }) {
  return <p className={`${styles.headline} ${styles.alone}`} data-testid="headline" title={title}>{children}</p>
}

/** Cards below each other, at equal distances. */
export function Stack({ children }: { children: ReactNode }) {
  return <div className={styles.stack}>{children}</div>
}
