import { useCallback } from 'react'
import { useLocation, useSearchParams } from 'wouter'

/** The address of this page with a slice open; what goes there leaves a step in the history. */
export function useSliceAddress(): (slice: number, rank?: number | null) => string {
  const [path] = useLocation()
  const [params] = useSearchParams()
  return useCallback(
    (slice, rank = null) => {
      const next = new URLSearchParams(params)
      next.set('slice', String(slice))
      if (rank !== null) next.set('rank', String(rank))
      return `${path}?${next}`
    },
    [path, params],
  )
}

/** Opens a slice from code, as from a click in a chart. */
export function useOpenSlice(): (slice: number, rank?: number | null) => void {
  const address = useSliceAddress()
  const [, go] = useLocation()
  return useCallback((slice, rank) => go(address(slice, rank ?? null)), [address, go])
}
