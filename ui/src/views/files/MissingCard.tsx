import type { Contents } from '../../api/shapes'
import { Card } from '../../components/Card'
import { CodeLine } from '../../components/CodeLine'
import { useTranslated } from '../../state/findings'
import { useTexts } from '../../state/language'
import styles from './Files.module.css'

/** What was not recorded, and how it would be. */
export function MissingCard({ run, missing }: { run: string; missing: Contents['not_recorded'] }) {
  const { files: texts } = useTexts()
  const told = useTranslated(run, missing)
  return (
    <Card title={texts.missingTitle} hint={missing.length > 0 ? texts.missingHint : undefined}>
      {missing.length === 0 && <p className={styles.plain}>{texts.nothingMissing}</p>}
      <ul className={styles.list}>
        {told.map(({ what, how_to_record: how }) => (
          <li key={`${what} ${how}`} className={styles.missing}>
            <span>{what}</span>
            <CodeLine code={how} />
          </li>
        ))}
      </ul>
    </Card>
  )
}
