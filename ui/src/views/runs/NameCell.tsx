import { Link } from 'wouter'
import type { Run } from '../../api/shapes'
import { problemLine } from '../../lib/problems'
import { useTexts } from '../../state/language'
import styles from './Runs.module.css'

/** Its name, where it lies, and why it could not be read. */
export function NameCell({ run, href, withState }: { run: Run; href: string; withState: boolean }) {
  const { runs: texts, problems } = useTexts()
  return (
    <span className={styles.name}>
      <Link href={href} title={texts.open(run.name)}>{run.name}</Link>
      {run.path !== run.name && <small title={run.path}>{run.path}</small>}
      {withState && run.status !== 'ready' && <small>{texts.status[run.status]}</small>}
      {run.status === 'failed' && <small className={styles.failure}>{problemLine(run.message ?? '', problems)}</small>}
    </span>
  )
}
