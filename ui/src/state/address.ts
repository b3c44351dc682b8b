/** The address holds what is shown: /runs/{run}/{page}?rank=0&device=0&steps=2-14&slice=123, and what a page adds. */
import { useCallback } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import { parseSteps } from '../lib/ranges'

/** What stays when one goes to another page of the same run. */
const LASTING = ['rank', 'device', 'steps', 'lang'] as const

/** A value of the address by name, and how to change it; null removes it. Changes replace, so that Back leaves the page. */
export function useParam(name: string): [string | null, (value: string | null) => void] {
  const [params, setParams] = useSearchParams()
  const change = useCallback(
    (value: string | null) => setParams((before) => changed(before, { [name]: value }), { replace: true }),
    [name, setParams],
  )
  return [params.get(name), change]
}

/** Several values at once, for what changes together. */
export function useParams(): [URLSearchParams, (changes: Record<string, string | null>) => void] {
  const [params, setParams] = useSearchParams()
  const change = useCallback(
    (changes: Record<string, string | null>) => setParams((before) => changed(before, changes), { replace: true }),
    [setParams],
  )
  return [params, change]
}

function changed(before: URLSearchParams, changes: Record<string, string | null>): URLSearchParams {
  const after = new URLSearchParams(before)
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') after.delete(name)
    else after.set(name, value)
  }
  return after
}

export interface Place {
  readonly run: string | null
  readonly page: string | null
}

export function usePlace(): Place {
  const [path] = useLocation()
  const [, run, page] = /^\/runs\/([^/]+)(?:\/([^/]+))?/.exec(path) ?? []
  return { run: run === undefined ? null : decodeURIComponent(run), page: page ?? null }
}

export interface Selection {
  readonly rank: number | null
  readonly device: number | null
  readonly steps: string | null
}

/** What the header has chosen. What is no number or range counts as not chosen. */
export function useSelection(): Selection {
  const [params] = useSearchParams()
  const steps = params.get('steps')
  return {
    rank: whole(params.get('rank')),
    device: whole(params.get('device')),
    steps: steps !== null && parseSteps(steps) ? steps : null,
  }
}

/** The choices of the header that resources take, without those that are open: spread into `query`. */
export function useQueryChoices(): { rank?: number; steps?: string } {
  const { rank, steps } = useSelection()
  return { ...(rank === null ? {} : { rank }), ...(steps === null ? {} : { steps }) }
}

function whole(text: string | null): number | null {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null
}

/** The address of a page of a run; keeps rank, device and steps, adds what is given. */
export function usePageAddress(): (run: string, page: string, more?: Record<string, string>) => string {
  const [params] = useSearchParams()
  return useCallback(
    (run, page, more = {}) => {
      const kept = new URLSearchParams(more)
      for (const name of LASTING) {
        const value = params.get(name)
        if (value !== null && !kept.has(name)) kept.set(name, value)
      }
      const query = kept.toString()
      return `/runs/${encodeURIComponent(run)}/${page}${query === '' ? '' : `?${query}`}`
    },
    [params],
  )
}
