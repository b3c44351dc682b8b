import { Button } from '@mantine/core'
import { asProblem } from '../api/problem'
import { useTexts } from '../state/language'
import { WarningIcon } from './icons'
import styles from './ProblemNote.module.css'

/** What failed, where, and what to do. */
export function ProblemNote({ error, onRetry, title }: { error: unknown; onRetry?: () => void; title?: string }) {
  const { frame } = useTexts()
  const problem = asProblem(error)
  const unreachable = problem.unreachable
  return (
    <div className={styles.note} role="alert">
      <WarningIcon />
      <div className={styles.words}>
        <strong>{title ?? (unreachable ? frame.offlineTitle : frame.failedTitle)}</strong>
        <p>{unreachable ? frame.offline : [problem.what, problem.where].filter(Boolean).join(': ')}</p>
        {problem.remedy !== null && <p>{problem.remedy}</p>}
        {onRetry && <Button size="xs" variant="default" onClick={onRetry}>{frame.again}</Button>}
      </div>
    </div>
  )
}
