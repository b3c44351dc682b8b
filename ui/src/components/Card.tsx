import type { ReactNode } from 'react'
import { useId } from 'react'
import styles from './Card.module.css'

export interface CardProps {
  readonly title: ReactNode
  /** One line under the title. */
  readonly hint?: ReactNode
  /** Controls or a link, at the right of the title. */
  readonly actions?: ReactNode
  readonly children: ReactNode
  /** What findings call it; `Evidence` lights it up. */
  readonly evidence?: string
  readonly className?: string
}

/** A part of a page that answers one question. */
export function Card({ title, hint, actions, children, evidence, className }: CardProps) {
  const id = useId()
  return (
    <section className={`${styles.card} ${className ?? ''}`} aria-labelledby={id} data-evidence={evidence}>
      <div className={styles.head}>
        <div className={styles.words}>
          <h2 id={id} className={styles.title}>{title}</h2>
          {hint !== undefined && <p className={styles.hint}>{hint}</p>}
        </div>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </div>
      {children}
    </section>
  )
}
