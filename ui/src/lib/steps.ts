/** Steps as the pages show them: what the step trace and the report tell of each, and which of them stand out. */
import type { Budget } from './budget'

export interface TracedStep {
  readonly step: number
  readonly index: number
  readonly window: number
  readonly start_ns: number
  readonly gap_before_ns: number | null
  readonly interval_ns: number | null
  readonly forward_backward_ns: number | null
  readonly tail_ns: number | null
  readonly total_ns: number | null
  readonly complete: boolean
  readonly first_of_window: boolean
  readonly source: string
}

export interface ReportedStep {
  readonly index: number
  readonly dur_ns: number
  readonly budget: Budget | null
}

export type StepRow = TracedStep & {
  /** What its markers span, which the budget divides. */
  readonly dur_ns: number | null
  readonly budget: Budget | null
  /** How many times the median it took. */
  readonly factor: number | null
  /** Far longer than the others. */
  readonly outlier: boolean
  readonly reasons: readonly string[]
}

export interface Skipped {
  readonly step: number
  readonly reason: string
}

/** Longer than the third quartile by this many times the middle half … */
const BEYOND = 3
/** … and than the median by this share: steps that hardly vary have no outliers. */
const LEAST_SHARE = 0.1
const LEAST_STEPS = 4

export function stepRows(traced: readonly TracedStep[], reported: readonly ReportedStep[], skipped: readonly Skipped[]): StepRow[] {
  const found = new Map(reported.map((step) => [step.index, step]))
  const durations = traced.filter((step) => step.complete).flatMap((step) => spanOf(step, found.get(step.index)) ?? [])
  const middle = quantile(durations, 0.5)
  const limit = outlierLimit(durations)
  const reasons = new Map<number, string[]>()
  for (const { step, reason } of skipped) reasons.set(step, [...(reasons.get(step) ?? []), reason])
  return traced.map((step) => {
    const span = spanOf(step, found.get(step.index))
    return {
      ...step,
      dur_ns: span,
      budget: found.get(step.index)?.budget ?? null,
      factor: span === null || middle === null || middle === 0 ? null : span / middle,
      outlier: step.complete && span !== null && limit !== null && span > limit,
      reasons: reasons.get(step.step) ?? [],
    }
  })
}

function spanOf(step: TracedStep, reported: ReportedStep | undefined): number | null {
  return reported?.dur_ns ?? step.total_ns
}

/** Above it a step stands out; null where there are too few to tell. */
export function outlierLimit(durations: readonly number[]): number | null {
  if (durations.length < LEAST_STEPS) return null
  const [low, middle, high] = [0.25, 0.5, 0.75].map((place) => quantile(durations, place)!)
  return Math.max(high! + BEYOND * (high! - low!), middle! * (1 + LEAST_SHARE))
}

/** By linear interpolation, as everywhere in laptime. */
export function quantile(values: readonly number[], place: number): number | null {
  if (values.length === 0) return null
  const ordered = values.toSorted((a, b) => a - b)
  const at = place * (ordered.length - 1)
  const below = Math.floor(at)
  const above = Math.min(below + 1, ordered.length - 1)
  return ordered[below]! + (at - below) * (ordered[above]! - ordered[below]!)
}

/** The complete step that took longest. */
export function slowestOf(rows: readonly StepRow[]): StepRow | null {
  return rows.filter((row) => row.complete && row.dur_ns !== null).reduce<StepRow | null>((most, row) => (most === null || row.dur_ns! > most.dur_ns! ? row : most), null)
}

/** What was typed into the box of steps: a step's number, the average, or neither. */
export function chosenStep(text: string, steps: readonly number[]): number | 'average' | null {
  const typed = text.trim().toLowerCase()
  if (typed === '' || typed === 'average' || typed === '平均') return 'average'
  if (!/^\d{1,15}$/.test(typed)) return null
  const number = Number(typed)
  return steps.includes(number) ? number : null
}

/** Numbers as ranges, for a sentence: 1-5, 9. */
export function numberRanges(numbers: readonly number[]): string {
  const ordered = [...new Set(numbers)].toSorted((a, b) => a - b)
  const ranges: [number, number][] = []
  for (const number of ordered) {
    const last = ranges.at(-1)
    if (last && number === last[1] + 1) last[1] = number
    else ranges.push([number, number])
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(', ')
}
