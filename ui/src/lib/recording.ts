/** How to record what a run lacks. */
import type { Report } from '../api/shapes'

/** How the framework of a run records what is missing; undefined where it is there, or nothing records it. */
export function howToRecord(report: Pick<Report, 'not_recorded'> | undefined, what: string): string | undefined {
  return report?.not_recorded.find((missing) => missing.what === what)?.how_to_record
}

type Lacking = 'step markers' | 'memory' | 'data queues'

const BY_LAPTIME: Record<Lacking, string> = {
  'step markers': 'with laptime.Profiler("runs/mine") as prof:\n    for batch in loader:\n        train(batch)\n        prof.step()',
  memory: 'laptime.Profiler(profile_memory=True)',
  'data queues': 'with laptime.Profiler("runs/mine") as prof:\n    for batch in prof.watch(loader):\n        train(batch)\n        prof.step()',
}

/** The same, and where its framework has no word for it, how laptime records it. */
export function codeThatRecords(report: Report, what: Lacking): string {
  return howToRecord(report, what) ?? BY_LAPTIME[what]
}
