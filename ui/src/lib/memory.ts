/** What the page of memory works out of curves and blocks. */

/** A curve of steps: `bytes[i]` holds from `times_ns[i]` on. */
export interface Levels {
  readonly times_ns: readonly number[]
  readonly bytes: readonly number[]
}

/** The place of the last time that is not after `at`; -1 before the first. */
export function placeOf(times: readonly number[], at: number): number {
  let [low, high] = [0, times.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (times[middle]! <= at) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** The level that holds at a time; null where there is no curve. */
export function levelAt({ times_ns, bytes }: Levels, at: number): number | null {
  return bytes[Math.max(0, placeOf(times_ns, at))] ?? null
}

/** The change of the curve that lies `by` changes from a time, for going by keys. */
export function changeFrom(times: readonly number[], at: number, by: number): number {
  const place = placeOf(times, at)
  // From between two changes, the first step back is to the one before.
  const from = by < 0 && place >= 0 && times[place] !== at ? place + 1 : place
  return times[Math.max(0, Math.min(times.length - 1, from + by))] ?? at
}

/** The name of a device of memory that fits a device number of the header: cuda:0 for 0. */
export function deviceNamed(devices: readonly (string | null)[], chosen: string | null, number: number | null): string | null {
  if (chosen !== null && devices.includes(chosen)) return chosen
  if (number === null) return null
  return devices.find((name) => name !== null && name !== 'cpu' && name.endsWith(`:${number}`)) ?? null
}

export interface Owner {
  readonly name: string | null
  readonly op: string | null
  readonly size_bytes: number
  readonly slice_id: number | null
}

export interface TreeNode {
  readonly name: string
  readonly value: number
  readonly slice?: number
  readonly children?: readonly TreeNode[]
}

/** Blocks below the operators that made them, largest first; what the list leaves out is a node of its own. */
export function ownerTree(owners: readonly Owner[], bytes: number | null, words: { unknown: string; others: string }): TreeNode[] {
  const groups = new Map<string, Owner[]>()
  for (const owner of owners) {
    const name = owner.op ?? owner.name ?? words.unknown
    const group = groups.get(name)
    if (group) group.push(owner)
    else groups.set(name, [owner])
  }
  const nodes = [...groups].map(([name, blocks]): TreeNode => ({ name, value: sum(blocks), children: blocks.map(leaf) }))
  const rest = (bytes ?? 0) - sum(owners)
  if (rest > 0) nodes.push({ name: words.others, value: rest })
  return nodes.toSorted((a, b) => b.value - a.value)

  function leaf({ name, op, size_bytes, slice_id }: Owner): TreeNode {
    return { name: name ?? op ?? words.unknown, value: size_bytes, ...(slice_id === null ? {} : { slice: slice_id }) }
  }
}

function sum(owners: readonly Owner[]): number {
  return owners.reduce((total, owner) => total + owner.size_bytes, 0)
}

export interface StepSpan {
  readonly step: number
  readonly start_ns: number
  readonly dur_ns: number
}

/** The step that is under way at a time. */
export function stepAt(steps: readonly StepSpan[], at: number): number | null {
  return steps.find(({ start_ns, dur_ns }) => start_ns <= at && at < start_ns + dur_ns)?.step ?? null
}
