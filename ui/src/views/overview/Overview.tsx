import { BudgetBar } from '../../components/BudgetBar'
import { Card } from '../../components/Card'
import { EmptyState } from '../../components/EmptyState'
import { Loaded } from '../../components/Loaded'
import type { RankReport } from '../../api/shapes'
import { budgetParts } from '../../lib/budget'
import { share, time } from '../../lib/units'
import { useSelection } from '../../state/address'
import { useTexts } from '../../state/language'
import { entryOf, useReport } from '../../state/report'
import type { PageProps } from '../pages'
import styles from './Overview.module.css'
import { StepTraceCard } from './StepTraceCard'

/** Where the time of a step goes, at a glance. */
export default function Overview({ run }: PageProps) {
  const { rank } = useSelection()
  const report = useReport(run)
  return (
    <>
      <Loaded query={report} height={240}>{(known) => <Budget entry={entryOf(known, rank)} />}</Loaded>
      <StepTraceCard run={run} />
    </>
  )
}

const MARK_STEPS = 'with laptime.profile() as profiler:\n    for batch in loader:\n        train(batch)\n        profiler.step()'

function Budget({ entry }: { entry: RankReport | null }) {
  const { overview: texts, terms } = useTexts()
  const summary = entry?.step_summary
  if (!summary?.budget) return <Card title={texts.budget}><EmptyState what={texts.noSteps} why={texts.noStepsHow} code={MARK_STEPS} /></Card>
  const parts = budgetParts(summary.budget).filter((part) => part.share >= 0.001)
  const words = parts.toSorted((a, b) => b.ns - a.ns).map((part) => texts.part(share(part.share), terms[part.term].name))
  return (
    <section className={styles.top} aria-label={texts.budget}>
      <p className={styles.headline} data-testid="headline">{texts.headline(time(summary.mean_ns), texts.list(words))}</p>
      <p className={styles.basis}>{[texts.steps(summary.steps_used), summary.budget.basis === 'host' ? texts.hostBasis : null].filter(Boolean).join(' · ')}</p>
      <BudgetBar budget={summary.budget} label={texts.budget} />
    </section>
  )
}
