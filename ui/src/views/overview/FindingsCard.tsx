import { Card } from '../../components/Card'
import { useFindings } from '../../state/findings'
import { share, time } from '../../lib/units'
import { useTexts } from '../../state/language'
import styles from './Overview.module.css'

const MOST = 3

/** The findings that save most; the panel beside the page has them all. */
export function FindingsCard({ run }: { run: string }) {
  const { overview: texts, findings: words } = useTexts()
  const { offered, findings, waiting } = useFindings(run)
  if (!offered || waiting) return null
  const more = findings.length - MOST
  return (
    <Card title={texts.findings} hint={more > 0 ? texts.moreFindings(more) : undefined}>
      {findings.length === 0 && <p className={styles.says}>{texts.noFinding}</p>}
      <ol className={styles.findings}>
        {findings.slice(0, MOST).map((finding, at) => (
          <li key={at} data-severity={finding.severity}>
            <strong>{finding.title}</strong>
            <span>{[words.severity[finding.severity], finding.saving_ns_per_step ? texts.saves(time(finding.saving_ns_per_step), share(finding.saving_share)) : null].filter(Boolean).join(' · ')}</span>
          </li>
        ))}
      </ol>
    </Card>
  )
}
