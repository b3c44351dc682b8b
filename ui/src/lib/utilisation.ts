/** What the page of utilisation works out of device times. Unknown stays null. */
import type { Kind } from './colours'
import type { Pattern } from './budget'

export interface DeviceTimes {
  readonly span_ns: number
  readonly busy_ns: number | null
  readonly idle_ns: number | null
  readonly compute_ns: number | null
  readonly communication_ns: number | null
  readonly communication_exposed_ns: number | null
  readonly copy_exposed_ns: number | null
}

export type UsePart = 'compute' | 'communication' | 'exposed' | 'copy' | 'exposedCopy' | 'idle'

export interface UseSegment {
  readonly part: UsePart
  readonly kind: Kind
  readonly pattern: Pattern
  readonly ns: number
  readonly share: number
}

const LOOKS: Record<UsePart, readonly [Kind, Pattern]> = {
  compute: ['compute', 'plain'],
  communication: ['communication', 'striped'],
  exposed: ['communication', 'striped'],
  copy: ['copy', 'dotted'],
  exposedCopy: ['copy', 'dotted'],
  idle: ['idle', 'hatched'],
}

/** The span of a device in parts that sum to it; null where kernels were not recorded. */
export function deviceSegments(device: DeviceTimes): UseSegment[] | null {
  const { span_ns: span, compute_ns: compute, communication_exposed_ns: exposed, copy_exposed_ns: copy, idle_ns: idle } = device
  if (compute === null || idle === null || span <= 0) return null
  return segments([['compute', compute], ['exposed', exposed ?? 0], ['exposedCopy', copy ?? 0], ['idle', idle]], span)
}

export interface StreamTimes {
  readonly busy_ns: number | null
  readonly kinds: { readonly kernel_ns: number | null; readonly communication_ns: number | null; readonly copy_ns: number | null }
}

/** The span of the device as a stream spent it; null where it is not known. */
export function streamSegments({ busy_ns: busy, kinds }: StreamTimes, span: number): UseSegment[] | null {
  if (busy === null || span <= 0) return null
  // Where kinds overlap on one stream, the later ones keep what is left of its busy time.
  let left = busy
  const own = ([part, ns]: readonly [UsePart, number | null]): readonly [UsePart, number] => {
    const taken = Math.min(left, ns ?? 0)
    left -= taken
    return [part, taken]
  }
  const parts = ([['compute', kinds.kernel_ns], ['communication', kinds.communication_ns], ['copy', kinds.copy_ns]] as const).map(own)
  return segments([...parts, ['idle', span - busy]], span)
}

function segments(parts: readonly (readonly [UsePart, number])[], span: number): UseSegment[] {
  return parts.map(([part, ns]) => ({ part, kind: LOOKS[part][0], pattern: LOOKS[part][1], ns, share: ns / span }))
}

/** How many streams compute at once while any does; null where nothing computes. */
export function concurrency(device: { readonly compute_ns: number | null; readonly streams: readonly StreamTimes[] }): number | null {
  if (!device.compute_ns) return null
  return device.streams.reduce((sum, { kinds }) => sum + (kinds.kernel_ns ?? 0), 0) / device.compute_ns
}

/** A share of sums, null where one is not known or nothing is there. */
export function shareOf(part: number | null, whole: number | null): number | null {
  return part === null || !whole ? null : part / whole
}
