import { Card } from '../components/Card'
import { EmptyState } from '../components/EmptyState'
import { FindingEntry } from '../frame/findings/FindingEntry'
import { useFindings } from '../state/findings'
import { useTexts } from '../state/language'

/** What to change, each with its evidence. */
export function FindingsSection({ run }: { run: string }) {
  const { findings: texts } = useTexts()
  const { findings, waiting } = useFindings(run)
  if (waiting) return null
  return (
    <Card title={texts.count(findings.length)}>
      {findings.length === 0 && <EmptyState what={texts.none} why={texts.noneWhy} />}
      {findings.map((finding, at) => <FindingEntry key={`${finding.rule} ${at}`} finding={finding} first />)}
    </Card>
  )
}
