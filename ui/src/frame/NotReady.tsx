import { Button, Progress } from '@mantine/core'
import { useEffect, useEffectEvent } from 'react'
import { Problem } from '../api/problem'
import type { Run } from '../api/shapes'
import { CodeLine } from '../components/CodeLine'
import { ProblemNote } from '../components/ProblemNote'
import { useTexts } from '../state/language'
import { useImport } from '../state/imports'
import styles from './Frame.module.css'

/** Stands for the page of a run that is not imported: opening it starts the import, progress or failure shows. */
export function NotReady({ run }: { run: Run }) {
  const { frame } = useTexts()
  const texts = frame.notReady
  const { start, error } = useImport()
  const { status } = run
  const begin = useEffectEvent(() => start(run.run))
  useEffect(() => {
    if (status === 'new') begin()
  }, [status])
  if (status === 'ready') return null
  if (status === 'failed') {
    return (
      <div className={styles.notReady}>
        <ProblemNote title={texts.failed} error={error ?? failure(run)} onRetry={() => start(run.run)} />
        <CodeLine code={run.path} />
      </div>
    )
  }
  return (
    <div className={styles.notReady} role="status">
      <h1 className={styles.name}>{run.name}</h1>
      <p>{texts[status]}</p>
      <Progress value={(run.progress ?? 0) * 100} striped={run.progress === null} animated={run.progress === null} aria-label={texts[status]} size="lg" />
      <p className={styles.dimmed}>{texts.why}</p>
      {error !== null && <ProblemNote error={error} />}
      {status === 'new' && <Button onClick={() => start(run.run)}>{texts.import}</Button>}
    </div>
  )
}

const FAILED = 500

function failure(run: Run): Problem {
  return new Problem(FAILED, run.message ?? '')
}
