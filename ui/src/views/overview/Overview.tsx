import { useDeferredValue } from 'react'
import type { Report } from '../../api/shapes'
import { Loaded } from '../../components/Loaded'
import { useSelection } from '../../state/address'
import { entryOf, useReport } from '../../state/report'
import type { PageProps } from '../pages'
import { BudgetCard } from './BudgetCard'
import { FindingsCard } from './FindingsCard'
import { MemoryCard } from './MemoryCard'
import { NotRecordedCard } from './NotRecordedCard'
import { OperatorsCard } from './OperatorsCard'
import styles from './Overview.module.css'
import { PipelineCard } from './PipelineCard'
import { RanksCard } from './RanksCard'
import { StepTraceCard } from './StepTraceCard'
import { TimelineCard } from './TimelineCard'

/** Where the time of a step goes, at a glance. */
export default function Overview({ run }: PageProps) {
  const report = useReport(run)
  return <Loaded query={report} height={480}>{(known) => <Page run={run} report={known} />}</Loaded>
}

function Page({ run, report }: { run: string; report: Report }) {
  const { rank } = useSelection()
  const entry = entryOf(report, rank)
  return (
    <div className={styles.page}>
      <BudgetCard entry={entry} report={report} />
      <Cards run={run} report={useDeferredValue(report, null)} />
    </div>
  )
}

/** All below the answer; it shows first. */
function Cards({ run, report }: { run: string; report: Report | null }) {
  if (report === null) return null
  return (
    <>
      <StepTraceCard run={run} report={report} />
      <PipelineCard run={run} report={report} />
      <div className={styles.cards}>
        <OperatorsCard run={run} />
        <TimelineCard run={run} />
        <MemoryCard run={run} report={report} />
        {report.ranks.length > 1 && <RanksCard ranks={report.ranks} />}
        <FindingsCard run={run} />
        {report.not_recorded.length > 0 && <NotRecordedCard run={run} missing={report.not_recorded} />}
      </div>
    </>
  )
}
