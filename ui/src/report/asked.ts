/** What the report asks: the same questions that `laptime.web.saved` answers. */

export const RUN = 'run'
export const OPERATORS = 20
export const CURVE_POINTS = 1500

/** The steps that the report counts; null where it counts all. */
export function savedSteps(answers: Readonly<Record<string, unknown>>): string | null {
  const address = Object.keys(answers).find((each) => each.startsWith(`/api/runs/${RUN}/step?`))
  return address === undefined ? null : new URLSearchParams(address.split('?')[1]).get('steps')
}
