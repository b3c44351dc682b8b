/** Numbers as people read them: three significant digits and a fitting unit. The exact value stays at hand beside them. */

/** What an unknown value shows as; never 0. */
export const UNKNOWN = '–'

/** Between a number and its unit, where no line may break. */
export const SPACE = '\u00a0'

/** A sentence in which no line breaks between a number and its unit. */
export function glued(text: string): string {
  return text.replace(/(?<=[\d<>]) (?=-?\d|%|(?:[nµm]?s|[KMGT]iB|B)(?![A-Za-z]))/g, SPACE)
}

type Scale = readonly (readonly [unit: string, size: number])[]

export const TIMES: Scale = [['ns', 1], ['µs', 1e3], ['ms', 1e6], ['s', 1e9]]
export const SIZES: Scale = [['B', 1], ['KiB', 2 ** 10], ['MiB', 2 ** 20], ['GiB', 2 ** 30], ['TiB', 2 ** 40]]
const COUNTS: Scale = [['', 1], ['k', 1e3], ['M', 1e6], ['G', 1e9]]

/** 3 significant digits without an exponent: 0.123, 1.23, 12.3, 123, 1230. */
export function significant(value: number, digits = 3): string {
  if (value === 0) return '0'
  const magnitude = Math.floor(Math.log10(Math.abs(value)))
  const decimals = Math.max(0, Math.min(20, digits - 1 - magnitude))
  const text = value.toFixed(decimals)
  // 9.996 rounds to 10.00, which has a digit too many.
  return Math.abs(Number(text)) >= 10 ** (magnitude + 1) && decimals > 0 ? value.toFixed(decimals - 1) : text
}

function scaled(value: number, scale: Scale): string {
  const size = Math.abs(value)
  // 999 600 ns reads as 1.00 ms, not as 1000 µs.
  const [unit, factor] = scale.findLast(([, factor]) => size >= factor * 0.9995) ?? scale[0]!
  const number = Number.isInteger(value) && factor === 1 ? String(value) : significant(value / factor)
  return unit === '' ? number : `${number}${SPACE}${unit}`
}

export function time(ns: number | null | undefined): string {
  return ns == null ? UNKNOWN : scaled(ns, TIMES)
}

export function bytes(value: number | null | undefined): string {
  return value == null ? UNKNOWN : scaled(value, SIZES)
}

/** Counts stay whole up to a million: 12,345 and 1.23 M; means of counts keep three digits: 803 and 1.67. */
export function count(value: number | null | undefined): string {
  if (value == null) return UNKNOWN
  if (Math.abs(value) >= 1e6) return scaled(value, COUNTS)
  return Number.isInteger(value) ? grouped(value) : grouped(Number(significant(value)))
}

/** A fraction of 0..1 as percent; what is there but too little to show is not 0. */
export function share(fraction: number | null | undefined): string {
  if (fraction == null) return UNKNOWN
  const percent = fraction * 100
  if (percent !== 0 && Math.abs(percent) < 0.05) return `${percent < 0 ? '>' : '<'}${SPACE}${percent < 0 ? '-0.1' : '0.1'}${SPACE}%`
  return `${percent.toFixed(Math.abs(percent) >= 99.95 ? 0 : 1)}${SPACE}%`
}

/** All digits, for titles and copies: 1,234,567 ns. */
export function exact(value: number | null | undefined, unit = ''): string {
  if (value == null) return UNKNOWN
  return unit === '' ? grouped(value) : `${grouped(value)}${SPACE}${unit}`
}

const GROUPS = new Intl.NumberFormat('en-US', { maximumFractionDigits: 6 }) // costs much to make

function grouped(value: number): string {
  return GROUPS.format(value)
}

export type Quantity = 'time' | 'bytes' | 'count' | 'share' | 'number'

const READ: Record<Quantity, (value: number | null | undefined) => string> = {
  time,
  bytes,
  count,
  share,
  number: (value) => (value == null ? UNKNOWN : significant(value)),
}

const UNITS: Record<Quantity, string> = { time: 'ns', bytes: 'B', count: '', share: '', number: '' }

/** A value of a quantity, as read. */
export function readable(value: number | null | undefined, quantity: Quantity): string {
  return READ[quantity](value)
}

/** The same with all its digits. */
export function exactly(value: number | null | undefined, quantity: Quantity): string {
  return exact(value, UNITS[quantity])
}
