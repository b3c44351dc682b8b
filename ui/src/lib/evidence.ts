import { bytes, count, exact, share, significant, SPACE, time } from './units'

const READ: Record<string, (value: number) => string> = { ns: time, bytes, B: bytes, share, percent: (value) => share(value / 100), count }

/** A value of evidence with its unit, as read; texts as they are. */
export function evidenceText(value: number | string | null, unit: string | null): string {
  if (value === null) return '–'
  if (typeof value === 'string') return value
  const read = unit === null ? undefined : READ[unit]
  if (read) return read(value)
  const number = Number.isInteger(value) ? exact(value) : significant(value)
  return unit ? `${number}${SPACE}${unit}` : number
}
