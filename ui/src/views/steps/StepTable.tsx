import { useMemo } from 'react'
import { Card } from '../../components/Card'
import type { Column } from '../../components/table/column'
import { DataTable } from '../../components/table/DataTable'
import { type BudgetPart } from '../../lib/budget'
import { reasonText } from '../../lib/reasons'
import type { StepRow } from '../../lib/steps'
import { significant } from '../../lib/units'
import { useTexts } from '../../state/language'
import type { Texts } from '../../texts/catalogues'
import type { ChoosesStep } from './BudgetChart'
import { partsOf, stackOf } from './budgetOption'
import { STEP_PARTS } from './partOption'

/** Every step in numbers; a row chooses it. */
export function StepTable({ rows, onSelect }: ChoosesStep) {
  const texts = useTexts()
  const columns = useMemo(() => columnsOf(rows, texts), [rows, texts])
  return (
    <Card title={texts.steps.table}>
      <DataTable label={texts.steps.table} rows={rows} columns={columns} rowKey={(row) => row.index} height={420} searchable placeholder={texts.steps.searchSteps} onOpen={(row) => onSelect(row.index)} />
    </Card>
  )
}

function columnsOf(rows: readonly StepRow[], texts: Pick<Texts, 'steps' | 'terms'>): Column<StepRow>[] {
  const { steps, terms } = texts
  const time = (id: string, label: string, value: Column<StepRow>['value']): Column<StepRow> => ({ id, label, value, as: 'time', width: widthOf(label) })
  const budget = (part: BudgetPart) => time(part.term, terms[part.term].name, (row) => stackOf(row).find(({ term }) => term === part.term)?.ns)
  const parts = STEP_PARTS.filter(({ key }) => rows.some((row) => row[key] !== null))
  return [
    { id: 'step', label: steps.step, value: (row) => row.step, as: 'count', width: 84, cell: (row) => row.step },
    time('dur_ns', steps.time, (row) => row.dur_ns),
    { id: 'factor', label: `× ${steps.median}`, value: (row) => row.factor, as: 'number', width: 110, cell: (row) => (row.factor === null ? '–' : `${significant(row.factor)}${row.outlier ? ' ◯' : ''}`) },
    ...parts.map(({ key, term }) => time(key, terms[term].name, (row) => row[key])),
    ...partsOf(rows).map(budget),
    time('gap_before_ns', steps.gap, (row) => row.gap_before_ns),
    { id: 'notes', label: steps.notes, value: (row) => notesOf(row, steps), width: 320 },
  ]
}

/** Room for a label in two lines, of words that stay whole. */
function widthOf(label: string): number {
  const letter = /[\u4e00-\u9fff]/.test(label) ? 14 : 8
  return Math.max(96, 44 + letter * Math.max(label.length / 2 + 1, ...label.split(' ').map((word) => word.length)))
}

function notesOf(row: StepRow, texts: Texts['steps']): string {
  return [row.complete ? null : texts.incomplete, row.source === 'inferred' ? texts.inferredStep : null, ...row.reasons.map((reason) => reasonText(reason, texts.reasons))]
    .filter((text) => text !== null)
    .join(' · ')
}
