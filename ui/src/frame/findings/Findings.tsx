import { ActionIcon, Skeleton } from '@mantine/core'
import { CodeLine } from '../../components/CodeLine'
import { EmptyState } from '../../components/EmptyState'
import { UnfoldIcon } from '../../components/icons'
import { ProblemNote } from '../../components/ProblemNote'
import { useTexts } from '../../state/language'
import { FindingEntry } from './FindingEntry'
import styles from './Findings.module.css'
import type { Found } from '../../state/findings'

/** What to change, beside every page; the largest saving first. */
export function Findings({ found, onFold }: { found: Found; onFold?: () => void }) {
  const { findings: texts } = useTexts()
  return (
    <div className={styles.panel}>
      {onFold && (
        <div className={styles.head}>
          <h2 className={styles.title}>{texts.title}</h2>
          <span className={styles.count}>{found.waiting ? '' : texts.count(found.findings.length)}</span>
          <ActionIcon variant="subtle" color="gray" onClick={onFold} aria-label={texts.fold}><UnfoldIcon /></ActionIcon>
        </div>
      )}
      <div className={styles.list} tabIndex={0} role="region" aria-label={texts.title}>
        <Entries found={found} />
      </div>
    </div>
  )
}

function Entries({ found }: { found: Found }) {
  const { findings: texts } = useTexts()
  if (!found.offered) return <EmptyState what={texts.notOffered} />
  if (found.error) return <ProblemNote error={found.error} />
  if (found.waiting) return <Skeleton height={120} radius="md" />
  return (
    <>
      {found.findings.length === 0 && <EmptyState what={texts.none} why={texts.noneWhy} />}
      {found.findings.map((finding, at) => <FindingEntry key={`${finding.rule} ${at}`} finding={finding} first={at === 0} />)}
      {found.notRecorded.length > 0 && (
        <details className={styles.missing}>
          <summary>{texts.notChecked}</summary>
          {found.notRecorded.map(({ what, how_to_record }) => (
            <div key={what}><p>{what}</p><CodeLine code={how_to_record} /></div>
          ))}
        </details>
      )}
    </>
  )
}
