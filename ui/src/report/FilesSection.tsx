import { api } from '../api/client'
import type { Contents as Files } from '../api/shapes'
import { Card } from '../components/Card'
import { Loaded } from '../components/Loaded'
import { count, exact } from '../lib/units'
import { useTexts } from '../state/language'
import styles from './Report.module.css'

/** What was read of each file, and what is wrong with it. */
export function FilesSection({ run }: { run: string }) {
  const { saved: texts } = useTexts()
  const files = api.useQuery('get', '/api/runs/{run}/files', { params: { path: { run } } })
  return <Card title={texts.filesTitle}><Loaded query={files}>{(known) => <Known files={known} />}</Loaded></Card>
}

function Known({ files: { sources, warnings } }: { files: Files }) {
  const { saved: texts } = useTexts()
  const all = [...warnings.map((warning) => ({ ...warning, source: '' })), ...sources.flatMap(({ source, warnings: own }) => own.map((warning) => ({ ...warning, source })))]
  return (
    <>
      <table className={`numbers ${styles.table}`} aria-label={texts.filesTitle}>
        <thead><tr>{[texts.source, texts.format, texts.read, texts.kept, texts.dropped].map((name) => <th key={name} scope="col">{name}</th>)}</tr></thead>
        <tbody>
          {sources.map(({ source, format, events }, at) => (
            <tr key={at}>
              <td>{source}</td>
              <td>{format ?? '–'}</td>
              <td>{exact(events.read)}</td>
              <td>{exact(events.kept)}</td>
              <td>{exact(Object.values(events.dropped).reduce((sum, dropped) => sum + dropped, 0))}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {all.length === 0 ? <p className={styles.dimmed}>{texts.noWarnings}</p> : (
        <ul className={styles.warnings} aria-label={texts.warnings}>
          {all.map(({ source, message, count: times }, at) => <li key={at}>{[source, message].filter(Boolean).join(': ')}{times > 1 && ` (${count(times)} ×)`}</li>)}
        </ul>
      )}
    </>
  )
}
