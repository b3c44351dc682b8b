/** Ticks of axes: round numbers in the unit that people read. */
import { SPACE, TIMES, SIZES } from './units'

/** The end of an axis of bytes that shows `most`, and the distance of its ticks, both round in KiB, MiB or GiB. */
export function byteTicks(most: number, ticks = 5): { max: number; interval: number } {
  const unit = 1024 ** Math.max(0, Math.floor(Math.log2(Math.max(most, 1)) / 10))
  const wanted = Math.max(most, 1) / unit / ticks
  const decade = 2 ** Math.ceil(Math.log2(wanted))
  // Powers of two are round for bytes; within a unit tens read better from 10 on.
  const interval = Math.max(1, (wanted > 10 ? roundUp(wanted) : decade) * unit)
  return { max: Math.max(1, Math.ceil(most / interval)) * interval, interval }
}

function roundUp(value: number): number {
  const decade = 10 ** Math.floor(Math.log10(value))
  return decade * ([1, 2, 2.5, 5].find((step) => step * decade >= value) ?? 10)
}

/** A tick with all the digits that it needs: neighbours of a narrow view must differ. */
export function timeTick(ns: number): string {
  return withUnit(ns, TIMES)
}

export function byteTick(bytes: number): string {
  return withUnit(bytes, SIZES)
}

function withUnit(value: number, scale: readonly (readonly [string, number])[]): string {
  const [unit, factor] = scale.findLast(([, size]) => Math.abs(value) >= size) ?? scale[0]!
  return `${Number((value / factor).toPrecision(10))}${SPACE}${unit}`
}
