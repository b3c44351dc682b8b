/** Where one is in a table whose rows are fetched as they come into view; the address holds the row on top. */
import { useThrottledValue } from '@mantine/hooks'
import { useCallback, useEffect, useEffectEvent, useState } from 'react'
import { MOST_SCROLLED, type Parts, partsAround } from '../components/table/parts'
import type { HeldPage } from './tables'

/** Rows that are asked for at a time. */
export const PART = 1000

/** How often rows are asked for: what is only passed by is not. */
const ASK_MS = 150

/** How long rows have to stay in view until the address holds their place. */
const STAY_MS = 300

export interface Scrolled {
  /** Parts to fetch, from 1; the first is asked for anyway, since it tells how many rows there are. */
  readonly wanted: readonly number[]
  readonly parts: <Row>(start: readonly Row[], later: LaterRows<Row>) => Parts<Row>
}

/** Rows beyond the first part by their place; undefined until they have come. */
export type LaterRows<Row> = (at: number) => Row | undefined

/** `total`: rows there are, as far as that is known. */
export function useScrolled(held: HeldPage, total: number): Scrolled {
  const [view, setView] = useState<readonly [first: number, last: number]>([held.offset, held.offset])
  const onView = useCallback((from: number, to: number) => setView([from, to]), [])
  useKept(held, view[0])
  const asked = useThrottledValue(view, ASK_MS)
  const length = Math.min(total, MOST_SCROLLED)
  const first = held.offset < length ? held.offset : 0
  return {
    wanted: partsAround(...asked, PART, length).filter((part) => part > 0),
    parts: (start, later) => ({ length, first, rowAt: (at) => (at < PART ? start[at] : later(at)), onView }),
  }
}

/** Rows of parts, where they are answers to queries in the same order. */
export function laterRows<Row>(wanted: readonly number[], answers: readonly { readonly data?: { readonly rows: readonly Row[] } | undefined }[]): LaterRows<Row> {
  return (at) => answers[wanted.indexOf(Math.floor(at / PART))]?.data?.rows[at % PART]
}

/** Keeps in the address which row stands on top, once it has stayed there. */
function useKept(held: HeldPage, top: number) {
  const keep = useEffectEvent(() => top !== held.offset && held.onOffset(top))
  useEffect(() => {
    const timer = setTimeout(keep, STAY_MS)
    return () => clearTimeout(timer)
  }, [top])
}
