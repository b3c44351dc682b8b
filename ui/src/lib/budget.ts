import type { Term } from '../texts/catalogues'
import type { Kind } from './colours'

/** Where the time of a step went, as reports tell it. */
export interface Budget {
  readonly basis: 'device' | 'host'
  readonly total_ns: number
  readonly compute_ns: number
  readonly communication_exposed_ns: number
  readonly copy_exposed_ns: number
  readonly idle_ns: number
  readonly idle_data_wait_ns: number | null
  readonly idle_sync_ns: number | null
  readonly idle_launch_ns: number | null
  readonly idle_other_ns: number | null
  readonly compile_ns?: number | null
}

export type Pattern = 'plain' | 'striped' | 'dotted' | 'hatched'

export interface BudgetPart {
  readonly term: Term
  readonly kind: Kind
  readonly pattern: Pattern
  readonly ns: number
  readonly share: number
}

type Described = readonly [term: Term, kind: Kind, pattern: Pattern, key: keyof Budget]

/** The four parts that sum to the step. */
const PARTS: readonly Described[] = [
  ['compute', 'compute', 'plain', 'compute_ns'],
  ['communication', 'communication', 'striped', 'communication_exposed_ns'],
  ['copy', 'copy', 'dotted', 'copy_exposed_ns'],
  ['idle', 'idle', 'hatched', 'idle_ns'],
]

/** The causes that sum to idle. */
const CAUSES: readonly Described[] = [
  ['dataWait', 'data', 'hatched', 'idle_data_wait_ns'],
  ['sync', 'sync', 'hatched', 'idle_sync_ns'],
  ['launch', 'launch', 'hatched', 'idle_launch_ns'],
  ['idleOther', 'idle', 'hatched', 'idle_other_ns'],
]

export function budgetParts(budget: Budget): BudgetPart[] {
  return described(PARTS, budget)
}

/** Causes of idle; those that the recording cannot tell are left out. */
export function idleCauses(budget: Budget): BudgetPart[] {
  return described(CAUSES, budget)
}

function described(entries: readonly Described[], budget: Budget): BudgetPart[] {
  const total = budget.total_ns
  return entries.flatMap(([term, kind, pattern, key]) => {
    const ns = budget[key]
    return typeof ns === 'number' ? [{ term, kind, pattern, ns, share: total > 0 ? ns / total : 0 }] : []
  })
}
