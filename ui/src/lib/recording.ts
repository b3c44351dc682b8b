/** How to record what a run lacks: what the server says for its framework, else how laptime records it. */
import type { Report } from '../api/shapes'

export type Lacking = 'step markers' | 'memory' | 'data queues'

const BY_LAPTIME: Record<Lacking, string> = {
  'step markers': 'with laptime.profile() as prof:\n    for batch in loader:\n        train(batch)\n        prof.step()',
  memory: 'laptime.Profiler(profile_memory=True)',
  'data queues': 'for batch in prof.watch(loader):',
}

export function howToRecord(report: Report | undefined, what: Lacking): string {
  return report?.not_recorded.find((row) => row.what === what)?.how_to_record ?? BY_LAPTIME[what]
}
