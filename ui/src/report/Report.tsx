import type { Report as Answer } from '../api/shapes'
import { Loaded } from '../components/Loaded'
import { useSelection } from '../state/address'
import { useTexts } from '../state/language'
import { entryOf, useReport } from '../state/report'
import { BudgetCard } from '../views/overview/BudgetCard'
import { NotRecordedCard } from '../views/overview/NotRecordedCard'
import { PipelineCard } from '../views/overview/PipelineCard'
import { RanksCard } from '../views/overview/RanksCard'
import { StepTraceCard } from '../views/overview/StepTraceCard'
import { FilesSection } from './FilesSection'
import { FindingsSection } from './FindingsSection'
import { MemorySection } from './MemorySection'
import { OperatorsSection } from './OperatorsSection'
import { Part } from './Part'
import styles from './Report.module.css'
import { StepsSection } from './StepsSection'
import { UtilisationSection } from './UtilisationSection'

/** The report of a run, from top to bottom; nothing in it asks a server. */
export function Report({ run, version }: { run: string; version: string }) {
  const report = useReport(run)
  return (
    <main className={styles.report}>
      <Loaded query={report} height={480}>{(known) => <Known run={run} report={known} version={version} />}</Loaded>
    </main>
  )
}

function Known({ run, report, version }: { run: string; report: Answer; version: string }) {
  const texts = useTexts()
  const entry = entryOf(report, null)
  return (
    <>
      <Top report={report} version={version} />
      <Part flows>
        <BudgetCard entry={entry} report={report} />
        <StepTraceCard run={run} report={report} />
        {report.ranks.length > 1 && <RanksCard ranks={report.ranks} />}
      </Part>
      <Part title={texts.findings.title}><FindingsSection run={run} /></Part>
      <Part title={texts.steps.title}><StepsSection run={run} entry={entry} /></Part>
      <Part title={texts.operators.title}><OperatorsSection run={run} /></Part>
      <Part title={texts.pipeline.title} flows><PipelineCard run={run} report={report} /></Part>
      <Part title={texts.memory.title}><MemorySection run={run} report={report} entry={entry} /></Part>
      <Part title={texts.utilisation.title} flows><UtilisationSection run={run} report={report} /></Part>
      <Part title={texts.files.title}>
        {report.not_recorded.length > 0 && <NotRecordedCard run={run} missing={report.not_recorded} />}
        <FilesSection run={run} />
      </Part>
      <p className={styles.dimmed}>{texts.saved.more}</p>
    </>
  )
}

function Top({ report: { run, ranks }, version }: { report: Answer; version: string }) {
  const { saved: texts } = useTexts()
  const { steps } = useSelection()
  const devices = new Set(ranks.flatMap((rank) => rank.devices.flatMap((device) => device.name ?? [])))
  const facts = [run.framework, run.format, texts.ranks(ranks.length), ...devices, steps === null ? null : texts.onlySteps(steps), texts.writtenBy(version)]
  return (
    <div className={styles.top}>
      <h1>{document.title}</h1>
      <p className={styles.dimmed}>{facts.filter(Boolean).join(' · ')}</p>
      {ranks.length > 1 && <p className={styles.dimmed}>{texts.firstRank(String(ranks[0]!.rank ?? ranks[0]!.source), ranks.length)}</p>}
    </div>
  )
}
