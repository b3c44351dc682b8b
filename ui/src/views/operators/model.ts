/** What the page of operators makes of its tables: tabs, the largest rows with the rest as one, and keys of rows. */
import type { OperatorRow, Operators } from '../../api/shapes'
import type { Kind } from '../../lib/colours'

export type Side = Operators['on']

/** What operators can be grouped by, as the server names it. */
export const GROUPINGS = ['op-type', 'name', 'full-name', 'kernel', 'module', 'shape', 'source'] as const
export type Grouping = (typeof GROUPINGS)[number]

export interface Tab {
  /** Its name in the address: a side, or a kind of processor. */
  readonly id: string
  readonly side: Side
  /** Only operators of this kind of processor; null stands for all of the side. */
  readonly kind: string | null
}

/** A tab for each side that has operators; one more for each kind of processor where the device has several. */
export function tabsOf(device: readonly OperatorRow[], host: readonly OperatorRow[]): Tab[] {
  const kinds = [...new Set(device.map((row) => row.device_kind))]
  const named = kinds.filter((kind) => kind !== null)
  const byTime = named.toSorted((one, other) => ownTime(device, other) - ownTime(device, one))
  return [
    ...(device.length > 0 ? [{ id: 'device', side: 'device' as const, kind: null }] : []),
    ...(kinds.length > 1 ? byTime.map((kind) => ({ id: kind, side: 'device' as const, kind })) : []),
    ...(host.length > 0 ? [{ id: 'host', side: 'host' as const, kind: null }] : []),
  ]
}

/** The only kind of processor of the device; null where there are several, or none is told. */
export function onlyKind(device: readonly OperatorRow[]): string | null {
  const kinds = new Set(device.map((row) => row.device_kind))
  return kinds.size === 1 ? (device[0]?.device_kind ?? null) : null
}

function ownTime(rows: readonly OperatorRow[], kind: string | null): number {
  return rows.filter((row) => row.device_kind === kind).reduce((sum, row) => sum + (row.self_ns ?? 0), 0)
}

export function totalOf(rows: readonly OperatorRow[]): number {
  return rows.reduce((sum, row) => sum + (row.self_ns ?? 0), 0)
}

/** Time of all rows of a table; where only its first rows are here, their shares tell it. */
export function wholeOf({ rows, total_rows }: Pick<Operators, 'rows' | 'total_rows'>): number {
  const [first] = rows
  if (rows.length >= total_rows || !first?.share || first.self_ns === null) return totalOf(rows)
  return Math.max(totalOf(rows), Math.round(first.self_ns / first.share))
}

export interface Ranked {
  /** Null for all that are not among the largest. */
  readonly row: OperatorRow | null
  /** How many rows it stands for. */
  readonly rows: number
  readonly self_ns: number
  /** Of the time of all rows. */
  readonly share: number
}

export const MOST_RANKED = 20

/** The largest by self time, and all others as one. `whole_ns` is the time of all, `count` their number. */
export function ranked(rows: readonly OperatorRow[], whole_ns: number, count: number): Ranked[] {
  const known = rows.filter((row) => (row.self_ns ?? 0) > 0).toSorted((one, other) => other.self_ns! - one.self_ns!)
  const largest = known.slice(0, MOST_RANKED)
  const shareOf = (ns: number) => (whole_ns > 0 ? ns / whole_ns : 0)
  const found: Ranked[] = largest.map((row) => ({ row, rows: 1, self_ns: row.self_ns!, share: shareOf(row.self_ns!) }))
  const rest = whole_ns - totalOf(largest)
  const left = count - largest.length
  return rest > 0 && left > 0 ? [...found, { row: null, rows: left, self_ns: rest, share: shareOf(rest) }] : found
}

/** How many of the largest make up a share of the time. */
export function countOf(share: number, entries: readonly Ranked[]): number | null {
  let sum = 0
  for (const [at, entry] of entries.entries()) {
    if (entry.row === null) return null
    sum += entry.share
    if (sum >= share - 1e-9) return at + 1
  }
  return null
}

/** Input shapes as the server wants them back, null where the row has none. */
export function shapesOf(row: OperatorRow): string | null {
  const shapes = row.info?.['input_shapes']
  return shapes === undefined ? null : JSON.stringify(shapes)
}

export function hasShapes(row: OperatorRow): boolean {
  return row.info?.['input_shapes'] != null
}

export function fullName(row: OperatorRow): string {
  return hasShapes(row) ? `${row.name} ${shapesOf(row)}` : row.name
}

const LONGEST = 72

/** A name that fits into a sentence: what stands for no operator without its brackets, templates cut. */
export function spoken(name: string): string {
  const plain = name.replace(/^\[(.*)\]$/, '$1')
  return plain.length > LONGEST ? `${plain.slice(0, LONGEST - 1)}…` : plain
}

export function rowKey(row: OperatorRow): string {
  return [row.name, row.device_kind, shapesOf(row)].join('\n')
}

/** What colour stands for a row: communication and copies have their own. */
export function kindOf(row: OperatorRow, side: Side): Kind {
  const told = row.device_kind === 'communication' ? 'communication' : row.op_type
  if (told === 'communication') return 'communication'
  if (told === 'copy' || told === 'memset') return 'copy'
  return side === 'host' ? 'host' : 'compute'
}
