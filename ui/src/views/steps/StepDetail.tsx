import type { Steps as Trace } from '../../api/shapes'
import { Card } from '../../components/Card'
import { EmptyState } from '../../components/EmptyState'
import { StepStrip } from '../../components/StepStrip'
import { reasonText } from '../../lib/reasons'
import type { StepRow } from '../../lib/steps'
import type { StripEvent } from '../../lib/strip'
import { significant } from '../../lib/units'
import { useTexts } from '../../state/language'
import { useSliceAddress } from '../../state/slices'
import { Collectives } from './Collectives'
import { StepPicker } from './StepPicker'
import styles from './Steps.module.css'

interface StepDetailProps {
  readonly rows: readonly StepRow[]
  readonly trace: Trace
  /** Which row; null is the average. */
  readonly place: number | null
  readonly onSelect: (place: number | null) => void
}

/** One step or the average, drawn to scale, with what it communicates. */
export function StepDetail({ rows, trace, place, onSelect }: StepDetailProps) {
  const { steps: texts } = useTexts()
  const picker = rows.length > 1 && <StepPicker steps={rows.map((row) => row.step)} selected={place} onSelect={onSelect} />
  return (
    <Card title={place === null ? texts.average : texts.stepOf(rows[place]!.step)} hint={<Hint {...{ rows, trace, place }} />} actions={picker} className={styles.detail ?? ''}>
      {place === null ? <Average trace={trace} /> : <OneStep row={rows[place]!} communication={trace.steps[place]!.communication} />}
    </Card>
  )
}

function Hint({ rows, trace, place }: Omit<StepDetailProps, 'onSelect'>) {
  const { steps: texts } = useTexts()
  if (place === null) return trace.average === null ? null : texts.averageStep(trace.average.steps_used, trace.average.first_step_included)
  const row = rows[place]!
  const words = [
    row.factor === null ? null : texts.againstMedian(significant(row.factor)),
    row.complete ? null : texts.incomplete,
    row.source === 'inferred' ? texts.inferredStep : null,
    ...row.reasons.map((reason) => reasonText(reason, texts.reasons)),
  ]
  return words.filter(Boolean).join(' · ')
}

function Average({ trace }: { trace: Trace }) {
  const { steps: texts } = useTexts()
  if (trace.average === null) return <EmptyState what={texts.noAverage} />
  return <Drawn label={texts.average} step={trace.average} communication={trace.average.communication} origin_ns={0} />
}

function OneStep({ row, communication }: { row: StepRow; communication: Trace['steps'][number]['communication'] }) {
  const { steps: texts } = useTexts()
  return <Drawn label={texts.stepOf(row.step)} step={row} communication={communication} origin_ns={row.start_ns - (row.gap_before_ns ?? 0)} />
}

function Drawn({ communication, ...step }: { label: string; step: StepRow | NonNullable<Trace['average']>; communication: readonly StripEvent[]; origin_ns: number }) {
  const address = useSliceAddress()
  return (
    <>
      <StepStrip {...step} communication={communication} sliceAddress={address} />
      <Collectives communication={communication} origin_ns={step.origin_ns} />
    </>
  )
}
