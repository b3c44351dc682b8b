import type { Held } from './useRows'

/** A table whose rows the server has: it sorts and searches, `held` keeps what for. */
export interface Served<Row> extends Held {
  /** Rows there are; not more than some are scrolled through. */
  readonly total: number
  readonly parts: Parts<Row>
}

/** Rows of a table too long to be here as a whole: they are fetched as they come into view. */
export interface Parts<Row> {
  /** How many there are to scroll through. */
  readonly length: number
  /** Undefined until it has come. */
  readonly rowAt: (at: number) => Row | undefined
  /** The row that stands on top at first. */
  readonly first: number
  /** Told the first and last row in view. */
  readonly onView: (first: number, last: number) => void
}

/** Rows that one scroll bar can hold: browsers draw nothing higher than some ten million pixels. */
export const MOST_SCROLLED = 400_000

/** Parts of a length that cover the rows in view, with some rows around them. */
export function partsAround(first: number, last: number, length: number, total: number): number[] {
  const margin = Math.floor(length / 4)
  const from = Math.floor(Math.max(0, first - margin) / length)
  const to = Math.floor(Math.min(Math.max(0, total - 1), last + margin) / length)
  return Array.from({ length: to - from + 1 }, (_, at) => from + at)
}
