import type { Contents } from '../../api/shapes'
import { Card } from '../../components/Card'
import { WarningIcon } from '../../components/icons'
import { count, exact } from '../../lib/units'
import { useTexts } from '../../state/language'
import styles from './Files.module.css'

/** Every warning with its count and meaning, the most frequent first. */
export function WarningsCard({ warnings }: { warnings: Contents['warnings'] }) {
  const { files: texts } = useTexts()
  const sorted = warnings.toSorted((a, b) => b.count - a.count)
  return (
    <Card title={texts.warningsTitle} hint={warnings.length > 0 ? texts.warningsHint : undefined}>
      {sorted.length === 0 && <p className={styles.plain}>{texts.noWarnings}</p>}
      <ul className={styles.list}>
        {sorted.map(({ code, message, count: times }) => {
          const [name, meaning] = texts.codes[code] ?? [code, '']
          return (
            <li key={`${code} ${message}`} className={styles.warning}>
              <WarningIcon />
              <strong>{name}</strong>
              <span className="numbers" title={exact(times)}>{texts.times(count(times))}</span>
              <p>{meaning}</p>
              <small>{message}</small>
            </li>
          )
        })}
      </ul>
    </Card>
  )
}
