/** How to record what a run lacks. */
import type { Report } from '../api/shapes'

/** How the framework of a run records what is missing; undefined where it is there, or nothing records it. */
export function howToRecord(report: Pick<Report, 'not_recorded'> | undefined, what: string): string | undefined {
  return report?.not_recorded.find((missing) => missing.what === what)?.how_to_record
}

const profiled = (batches: string) => `with laptime.Profiler("runs/mine") as prof:\n    for batch in ${batches}:\n        train(batch)\n        prof.step()`

/** Records steps and operators of any framework. */
export const RECORD = profiled('loader')
/** Records waits for data, queues and workers too, of loaders of any framework. */
export const WATCH = profiled('prof.watch(loader)')

type Lacking = 'step markers' | 'memory' | 'data queues'

const BY_LAPTIME: Record<Lacking, string> = {
  'step markers': RECORD,
  memory: 'laptime.Profiler(profile_memory=True)',
  'data queues': WATCH,
}

/** The same, and where its framework has no word for it, how laptime records it. */
export function codeThatRecords(report: Report, what: Lacking): string {
  return howToRecord(report, what) ?? BY_LAPTIME[what]
}
