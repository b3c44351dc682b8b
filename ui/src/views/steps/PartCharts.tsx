import { useCallback } from 'react'
import { Card } from '../../components/Card'
import { Chart } from '../../components/chart/Chart'
import { EmptyState } from '../../components/EmptyState'
import { Exact } from '../../components/Exact'
import { Explained } from '../../components/Explained'
import type { Steps } from '../../api/shapes'
import { exactly, share } from '../../lib/units'
import { useTexts } from '../../state/language'
import type { ChoosesStep } from './BudgetChart'
import { type Part, partOption, STEP_PARTS } from './partOption'
import styles from './Steps.module.css'

const RECORD_PARTS = 'with laptime.scope("forward"): loss = model(batch)\nwith laptime.scope("backward"): loss.backward()'

/** Interval, forward and backward, tail over the steps. */
export function PartCharts({ trace, ...chooses }: ChoosesStep & { trace: Steps }) {
  const { steps: texts } = useTexts()
  const known = STEP_PARTS.filter(({ key }) => chooses.rows.some((row) => row[key] !== null))
  if (known.length === 0) {
    return <Card title={texts.partsTitle}><EmptyState what={texts.partsMissing} why={texts.partsMissingWhy} code={RECORD_PARTS} /></Card>
  }
  return <div className={styles.parts}>{known.map((part) => <PartChart key={part.key} part={part} trace={trace} {...chooses} />)}</div>
}

function PartChart({ part, trace, rows, selected, onSelect }: ChoosesStep & { part: Part; trace: Steps }) {
  const texts = useTexts()
  const { key, term } = part
  const mean = trace.average?.[key] ?? null
  const p90 = trace.p90?.[key] ?? null
  const total = trace.average?.total_ns ?? null
  const option = useCallback(partOption(rows, part, { mean, p90 }, selected, texts), [rows, part, mean, p90, selected, texts])
  const table = () => ({ columns: [texts.steps.step, texts.terms[term].name], rows: rows.map((row) => [String(row.step), exactly(row[key], 'time')]) })
  return (
    <Card title={<Explained term={term} />}>
      <p className={styles.level}>
        <strong><Exact value={mean} as="time" /></strong>
        {mean !== null && total !== null && total > 0 && <span>{texts.steps.ofTotal(share(mean / total))}</span>}
      </p>
      <Chart label={texts.steps.overSteps(texts.terms[term].name)} height={210} option={option} table={table} onPlace={(place) => rows[place] && onSelect(rows[place].index)} />
    </Card>
  )
}
