/** Step ranges as the command line writes them: 3, 3-7, 3-, -7, or several with commas between. */
export interface StepRange {
  readonly first: number | null
  readonly last: number | null
}

/** The ranges of a text, null where it is none. */
export function parseSteps(text: string): readonly StepRange[] | null {
  const ranges = text.split(',').map(parseRange)
  return ranges.every((range) => range !== null) ? ranges : null
}

function parseRange(text: string): StepRange | null {
  const found = /^\s*(\d{1,15})?\s*(-)?\s*(\d{1,15})?\s*$/.exec(text)
  if (!found || (found[1] === undefined && found[3] === undefined)) return null
  const first = found[1] === undefined ? null : Number(found[1])
  const last = found[3] === undefined ? (found[2] ? null : first) : Number(found[3])
  return first !== null && last !== null && first > last ? null : { first, last }
}

export function stepsText(ranges: readonly StepRange[]): string {
  return ranges.map(({ first, last }) => (first !== null && first === last ? first : `${first ?? ''}-${last ?? ''}`)).join(',')
}

/** Whether the ranges hold a step; null stands for all steps. */
export function holdsStep(ranges: readonly StepRange[] | null, step: number): boolean {
  return ranges === null || ranges.some(({ first, last }) => (first ?? step) <= step && step <= (last ?? step))
}

/** The first and last of all steps that the ranges may hold, for a slider over `steps`. */
export function outerBounds(ranges: readonly StepRange[] | null, steps: readonly number[]): [number, number] | null {
  const held = steps.filter((step) => holdsStep(ranges, step))
  return held.length === 0 ? null : [Math.min(...held), Math.max(...held)]
}
