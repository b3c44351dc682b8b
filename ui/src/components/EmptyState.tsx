import type { ReactNode } from 'react'
import { useTexts } from '../state/language'
import { CodeLine } from './CodeLine'
import styles from './EmptyState.module.css'

export interface EmptyStateProps {
  /** What is missing. */
  readonly what: string
  /** Why, or what it would show. */
  readonly why?: ReactNode
  /** The line of code or the command that records it. */
  readonly code?: string | undefined
  readonly children?: ReactNode
}

/** Stands where nothing was recorded: what is missing, and how to record it. */
export function EmptyState({ what, why, code, children }: EmptyStateProps) {
  const { frame } = useTexts()
  return (
    <div className={styles.empty}>
      <p className={styles.what}>{what}</p>
      {why !== undefined && <p className={styles.why}>{why}</p>}
      {code !== undefined && (
        <>
          {why === undefined && <p className={styles.why}>{frame.recordIt}</p>}
          <CodeLine code={code} />
        </>
      )}
      {children}
    </div>
  )
}
