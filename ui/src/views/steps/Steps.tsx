import { useMemo } from 'react'
import type { RankReport, Report, Steps as Trace } from '../../api/shapes'
import { EmptyState } from '../../components/EmptyState'
import { Card } from '../../components/Card'
import { Loaded } from '../../components/Loaded'
import { codeThatRecords } from '../../lib/recording'
import { stepRows } from '../../lib/steps'
import { useParam, useSelection } from '../../state/address'
import { useTexts } from '../../state/language'
import { entryOf, useReport } from '../../state/report'
import { useStepTrace } from '../../state/steps'
import type { PageProps } from '../pages'
import { BudgetChart } from './BudgetChart'
import { Headline } from './Headline'
import { PartCharts } from './PartCharts'
import { PointsCard } from './PointsCard'
import { SkippedCard } from './SkippedCard'
import { StepDetail } from './StepDetail'
import { StepTable } from './StepTable'
import styles from './Steps.module.css'

/** Which steps are slow, and in which part. */
export default function Steps({ run }: PageProps) {
  const { rank } = useSelection()
  const report = useReport(run)
  const trace = useStepTrace(run)
  return (
    <Loaded query={report} height={560}>
      {(known) => <Loaded query={trace} height={560}>{(steps) => <Page report={known} entry={entryOf(known, rank)} trace={steps} />}</Loaded>}
    </Loaded>
  )
}

function Page({ report, entry, trace }: { report: Report; entry: RankReport | null; trace: Trace }) {
  const { steps: texts } = useTexts()
  const [wanted, choose] = useParam('step')
  const rows = useMemo(() => stepRows(trace.steps, entry?.steps ?? [], trace.skipped), [trace, entry])
  if (rows.length === 0) return <Card title={texts.question}><EmptyState what={texts.none} why={texts.noneHow} code={codeThatRecords(report, 'step markers')} /></Card>
  const place = rows.findIndex((row) => String(row.step) === wanted)
  const selected = place < 0 ? null : rows[place]!
  const chooses = { rows, selected: selected?.index ?? null, onSelect: (index: number) => choose(String(rows.find((row) => row.index === index)!.step)) }
  return (
    <div className={styles.page}>
      <Headline rows={rows} trace={trace} />
      {rows.length > 1 && <BudgetChart {...chooses} />}
      <StepDetail rows={rows} trace={trace} place={place < 0 ? null : place} onSelect={(at) => choose(at === null ? null : String(rows[at]!.step))} />
      <PartCharts {...chooses} trace={trace} />
      <PointsCard trace={trace} framework={entry?.framework ?? null} source={report.run.path} />
      {trace.skipped.length > 0 && <SkippedCard skipped={trace.skipped} />}
      <StepTable {...chooses} />
    </div>
  )
}
