/** What the pages work out of counters. */
import { exact, readable, significant, SPACE } from './units'

export interface Counter {
  readonly name: string
  readonly unit: string | null
  readonly times_ns: readonly number[]
  readonly values: readonly number[]
}

/** Bytes, also where only the name says so: MegEngine tells no units. */
export function isBytes({ unit, name }: { unit: string | null; name: string }): boolean {
  return unit === 'bytes' || (unit === null && /_alloc_mem\b|bytes/i.test(name))
}

/** A value with its unit, as read. */
export function counterText(value: number | null | undefined, counter: { unit: string | null; name: string }): string {
  if (value == null) return readable(null, 'number')
  if (isBytes(counter)) return readable(value, 'bytes')
  if (counter.unit === 'percent') return `${significant(value)}${SPACE}%`
  const number = Number.isInteger(value) ? exact(value) : significant(value)
  return counter.unit === null ? number : `${number}${SPACE}${counter.unit}`
}
