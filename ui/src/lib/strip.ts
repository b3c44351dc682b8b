/** A step laid out to scale: its parts, and for each communication stream what ran when. Places are fractions of the step. */
import type { Kind } from './colours'
import type { Term } from '../texts/catalogues'

export interface StripStep {
  readonly interval_ns: number | null
  readonly forward_backward_ns: number | null
  readonly tail_ns: number | null
  readonly total_ns: number | null
}

export interface StripEvent {
  readonly name: string
  readonly stream: string | number | null
  readonly start_ns: number
  readonly dur_ns: number | null
  readonly slice_id?: number
}

export interface StripPart {
  readonly term: Term
  readonly kind: Kind
  readonly ns: number
  readonly from: number
  readonly width: number
}

const PARTS: readonly (readonly [Term, Kind, keyof StripStep])[] = [
  ['interval', 'data', 'interval_ns'],
  ['forwardBackward', 'compute', 'forward_backward_ns'],
  ['tail', 'host', 'tail_ns'],
]

/** The parts that are known; together they fill the step where all are. */
export function stripParts(step: StripStep): StripPart[] {
  const known = PARTS.flatMap(([term, kind, key]) => {
    const ns = step[key]
    return ns === null ? [] : [{ term, kind, ns }]
  })
  const total = step.total_ns ?? known.reduce((sum, part) => sum + part.ns, 0)
  // An unknown interval stands before what is known.
  let from = total > 0 ? Math.max(0, 1 - known.reduce((sum, part) => sum + part.ns, 0) / total) : 0
  return known.map((part) => {
    const width = total > 0 ? part.ns / total : 0
    const placed = { ...part, from, width }
    from += width
    return placed
  })
}

export interface StripMark {
  /** Of the longest, where it stands for several. */
  readonly name: string
  readonly slice: number | null
  readonly longest_ns: number
  readonly count: number
  readonly from: number
  readonly width: number
  readonly ns: number
}

export interface StripLane {
  readonly stream: string
  readonly marks: readonly StripMark[]
  /** Times between marks, before the first and after the last. */
  readonly gaps: readonly { readonly from: number; readonly width: number; readonly ns: number }[]
}

/** Marks nearer than this share of the step are drawn as one. */
const NEAREST = 0.002

/** A lane for each stream, in the order they first appear. */
export function stripLanes(events: readonly StripEvent[], origin_ns: number, total_ns: number): StripLane[] {
  const streams = new Map<string, StripEvent[]>()
  for (const event of events) {
    const stream = String(event.stream ?? '')
    if (event.dur_ns !== null) streams.set(stream, [...(streams.get(stream) ?? []), event])
  }
  return [...streams].map(([stream, found]) => {
    const marks = merged(found.toSorted((a, b) => a.start_ns - b.start_ns), origin_ns, total_ns)
    return { stream, marks, gaps: gapsOf(marks, total_ns) }
  })
}

function merged(events: readonly StripEvent[], origin_ns: number, total_ns: number): StripMark[] {
  const marks: StripMark[] = []
  for (const { name, start_ns, dur_ns, slice_id } of events) {
    const from = Math.max(0, Math.min(1, (start_ns - origin_ns) / total_ns))
    const end = Math.max(from, Math.min(1, (start_ns - origin_ns + dur_ns!) / total_ns))
    const last = marks.at(-1)
    if (last && from - (last.from + last.width) < NEAREST) {
      const width = Math.max(last.width, end - last.from)
      const longest = dur_ns! > last.longest_ns ? { name, slice: slice_id ?? null, longest_ns: dur_ns! } : last
      marks[marks.length - 1] = { ...last, ...longest, count: last.count + 1, from: last.from, width, ns: last.ns + dur_ns! }
    } else marks.push({ name, slice: slice_id ?? null, longest_ns: dur_ns!, count: 1, from, width: end - from, ns: dur_ns! })
  }
  return marks
}

function gapsOf(marks: readonly StripMark[], total_ns: number): StripLane['gaps'] {
  const ends = [0, ...marks.map((mark) => mark.from + mark.width)]
  const starts = [...marks.map((mark) => mark.from), 1]
  return starts.flatMap((start, at) => {
    const from = ends[at]!
    return start > from ? [{ from, width: start - from, ns: Math.round((start - from) * total_ns) }] : []
  })
}
