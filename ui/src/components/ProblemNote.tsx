import { Button } from '@mantine/core'
import { asProblem } from '../api/problem'
import { problemLine, problemText } from '../lib/problems'
import { useTexts } from '../state/language'
import { WarningIcon } from './icons'
import styles from './ProblemNote.module.css'

/** What failed, where, and what to do. */
export function ProblemNote({ error, onRetry, title }: { error: unknown; onRetry?: () => void; title?: string }) {
  const { frame, problems } = useTexts()
  const problem = asProblem(error)
  const unreachable = problem.unreachable
  const { where, remedy } = problem
  const what = [problemLine(problem.what, problems), where !== null && problemText(where, problems)].filter(Boolean).join(': ')
  return (
    <div className={styles.note} role="alert">
      <WarningIcon />
      <div className={styles.words}>
        <strong>{title ?? (unreachable ? frame.offlineTitle : frame.failedTitle)}</strong>
        <p>{unreachable ? frame.offline : what}</p>
        {remedy !== null && <p>{problemText(remedy, problems)}</p>}
        {onRetry && <Button size="xs" variant="default" onClick={onRetry}>{frame.again}</Button>}
      </div>
    </div>
  )
}
