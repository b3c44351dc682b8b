import { useCallback } from 'react'
import { Card } from '../../components/Card'
import { Chart } from '../../components/chart/Chart'
import { Legend } from '../../components/Legend'
import { numberRanges, type StepRow } from '../../lib/steps'
import { useTexts } from '../../state/language'
import { useSaved } from '../../state/saved'
import { budgetOption, budgetTable, legendOf } from './budgetOption'
import styles from './Steps.module.css'

export interface ChoosesStep {
  readonly rows: readonly StepRow[]
  /** Place of the chosen step; null is the average. */
  readonly selected: number | null
  readonly onSelect: (index: number) => void
}

/** Where the time of each step went. */
export function BudgetChart({ rows, selected, onSelect }: ChoosesStep) {
  const texts = useTexts()
  const saved = useSaved()
  const option = useCallback(budgetOption(rows, selected, texts), [rows, selected, texts])
  const untold = rows.filter((row) => row.budget === null).map((row) => row.step)
  return (
    <Card title={texts.steps.budgetTitle} hint={saved ? undefined : texts.steps.budgetHint} evidence="step_variation">
      <Legend entries={legendOf(rows, texts)} />
      <Chart label={texts.steps.budgetLabel(rows.length)} height={300} option={option} table={() => budgetTable(rows, texts)} onPlace={(place) => rows[place] && onSelect(rows[place].index)} />
      {untold.length > 0 && untold.length < rows.length && <p className={styles.note}>{texts.steps.budgetMissing(numberRanges(untold))}</p>}
    </Card>
  )
}
