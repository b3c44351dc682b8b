/** How long training waits for data, in words, and what the devices do meanwhile. */
import type { Pipeline, RankReport } from '../../api/shapes'
import { count, share, time } from '../../lib/units'
import type { Texts } from '../../texts/catalogues'
import { isFirstOnly } from '../pipeline/model'

/** `idle`: the part of a step in which the devices idle for data; null where that is not known. */
export function waitWords({ data_bound: bound }: Pick<Pipeline, 'data_bound'>, idle: number | null, { overview: texts, pipeline }: Texts): string | null {
  if (bound === null) return null
  if (isFirstOnly(bound)) return pipeline.firstOnly(time(bound.first_wait_ns))
  const waited = bound.share_of_step === null ? texts.waitsOnly(time(bound.wait_ns)) : texts.waits(time(bound.wait_ns), share(bound.share_of_step))
  const empty = bound.waits === null ? null : texts.emptyBatches(count(bound.waits), count(bound.batches))
  const hidden = idle !== null && isHidden(bound.share_of_step ?? 0, idle) ? texts.waitsHidden(share(idle)) : null
  return [bound.wait_ns === 0 ? texts.noWaits : waited, hidden, empty].filter(Boolean).join(' ')
}

/** The least part of the steps that is worth a word. */
const LEAST = 0.02

function isHidden(waits: number, idle: number): boolean {
  return waits >= LEAST && idle < waits / 2
}

/** The part of a step in which the devices idle since data is late; null where the host's time is the step's. */
export function idleForData(entry: RankReport | null): number | null {
  const budget = entry?.step_summary?.budget
  if (!budget || budget.basis !== 'device' || budget.idle_data_wait_ns === null || budget.total_ns === 0) return null
  return budget.idle_data_wait_ns / budget.total_ns
}
