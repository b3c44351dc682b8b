import type { Report } from '../api/shapes'

/** How the framework of a run records what is missing; undefined where it is there, or nothing records it. */
export function howToRecord(report: Pick<Report, 'not_recorded'> | undefined, what: string): string | undefined {
  return report?.not_recorded.find((missing) => missing.what === what)?.how_to_record
}
