import type { Report } from '../../api/shapes'
import { Card } from '../../components/Card'
import { CodeLine } from '../../components/CodeLine'
import { useTranslated } from '../../state/findings'
import { useTexts } from '../../state/language'
import styles from './Overview.module.css'

/** What no rank of the run holds though its framework can record it, and how. */
export function NotRecordedCard({ run, missing }: { run: string; missing: Report['not_recorded'] }) {
  const { overview: texts } = useTexts()
  const told = useTranslated(run, missing)
  return (
    <Card title={texts.notRecorded} hint={texts.notRecordedHint}>
      <dl className={styles.missing}>
        {told.map(({ what, how_to_record }) => <div key={what}><dt>{what}</dt><dd><CodeLine code={how_to_record} /></dd></div>)}
      </dl>
    </Card>
  )
}
