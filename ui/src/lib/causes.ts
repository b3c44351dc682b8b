import type { Kind } from './colours'

const KINDS: Record<string, Kind> = {
  compute: 'compute',
  communication: 'communication',
  copy: 'copy',
  idle_data_wait: 'data',
  idle_sync: 'sync',
  idle_launch: 'launch',
  idle_other: 'idle',
}

/** The colour of what holds a run back most, by the part of the budget that the server names. */
export function causeKind(part: string): Kind {
  return KINDS[part] ?? 'scope'
}
