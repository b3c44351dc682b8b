import type { RankReport, Report } from '../../api/shapes'
import { BudgetBar } from '../../components/BudgetBar'
import { Card } from '../../components/Card'
import { EmptyState } from '../../components/EmptyState'
import { type Budget, budgetParts, idleCauses } from '../../lib/budget'
import { codeThatRecords } from '../../lib/recording'
import { share, time } from '../../lib/units'
import { useTexts } from '../../state/language'
import type { Texts } from '../../texts/catalogues'
import styles from './Overview.module.css'

/** What a sentence need not name. */
const LEAST_SHARE = 0.001
const WORTH_A_SENTENCE = 0.05

/** The answer of the page: a sentence, and the budget to scale. */
export function BudgetCard({ entry, report }: { entry: RankReport | null; report: Report }) {
  const { overview: texts, terms } = useTexts()
  const summary = entry?.step_summary
  if (!entry || entry.steps.length === 0) {
    return <Card title={texts.budget}><EmptyState what={texts.noSteps} why={texts.noStepsHow} code={codeThatRecords(report, 'step markers')} /></Card>
  }
  if (!summary) return <Card title={texts.budget}><EmptyState what={texts.noBudget} why={texts.noBudgetWhy} /></Card>
  const { budget } = summary
  const parts = budgetParts(budget).filter((part) => part.share >= LEAST_SHARE)
  const words = parts.toSorted((a, b) => b.ns - a.ns).map((part) => texts.part(share(part.share), terms[part.term].name))
  return (
    <section className={styles.top} aria-label={texts.budget} data-evidence="data_loading host_sync launch_bound host_busy exposed_communication serial_communication data_transfer">
      <p className={styles.headline} data-testid="headline">{texts.headline(time(summary.mean_ns), texts.list(words))}</p>
      <p className={styles.basis}>{basisOf(entry, budget, texts, terms)}</p>
      <BudgetBar budget={budget} label={texts.budget} />
    </section>
  )
}

function basisOf(entry: RankReport, budget: Budget, texts: Texts['overview'], terms: Texts['terms']): string {
  const used = entry.step_summary?.steps_used ?? 0
  const whole = entry.steps.filter((step) => step.complete).length
  const cause = idleCauses(budget).toSorted((a, b) => b.ns - a.ns)[0]
  const sentences = [
    used < whole ? texts.stepsOf(used, whole) : texts.steps(used),
    budget.basis === 'host' ? texts.hostBasis : null,
    cause && cause.share >= WORTH_A_SENTENCE ? texts.mostly(terms[cause.term].name, share(cause.share)) : null,
    budget.compile_ns != null && budget.compile_ns >= WORTH_A_SENTENCE * budget.total_ns ? texts.compile(time(budget.compile_ns)) : null,
  ]
  return sentences.filter((sentence) => sentence !== null).join(' ')
}
