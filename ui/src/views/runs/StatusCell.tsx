import { Button, Progress } from '@mantine/core'
import type { Run } from '../../api/shapes'
import { CheckIcon, WarningIcon } from '../../components/icons'
import { percent } from '../../lib/percent'
import { useImport } from '../../state/imports'
import { useTexts } from '../../state/language'
import styles from './Runs.module.css'

/** Ready; or how far reading is; or a button that starts it. */
export function StatusCell({ run }: { run: Run }) {
  const { runs: texts } = useTexts()
  const { start } = useImport()
  const { status, progress } = run
  if (status === 'ready') return <span className={styles.ready}><CheckIcon size={16} />{texts.status.ready}</span>
  if (status === 'importing' || status === 'queued') {
    return (
      <span className={styles.importing}>
        <Progress value={(progress ?? 0) * 100} striped={progress === null} animated={progress === null} aria-label={texts.status[status]} />
        <small className="numbers">{texts.status[status]}{progress !== null && ` ${percent(progress)}`}</small>
      </span>
    )
  }
  return (
    <span className={styles.status}>
      {status === 'failed' && <span className={styles.failed}><WarningIcon size={16} />{texts.status.failed}</span>}
      <Button size="compact-xs" variant="default" onClick={() => start(run.run)} aria-label={(status === 'failed' ? texts.retryLong : texts.importLong)(run.name)}>{status === 'failed' ? texts.retry : texts.import}</Button>
    </span>
  )
}
