import { Card } from '../../components/Card'
import { CodeLine } from '../../components/CodeLine'
import { EmptyState } from '../../components/EmptyState'
import { useTexts } from '../../state/language'
import styles from './Runs.module.css'

/** Nothing here: how to open recordings, and how to make one. */
export function NoRuns() {
  const { runs: texts } = useTexts()
  return (
    <Card title={texts.none}>
      <EmptyState what="laptime open" why={texts.noneHow} code="laptime open PATH">
        <p className={styles.hint}>{texts.recordHow}</p>
        <CodeLine code="laptime record train.py" />
      </EmptyState>
    </Card>
  )
}
