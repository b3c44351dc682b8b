/** The runs and their states, kept true by the server's events. */
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { api } from '../api/client'
import type { Run, RunList } from '../api/shapes'
import { setReachable } from './connection'

/** What the key of findings begins with; the run follows. */
export const FINDINGS = 'findings'

/** What the list is asked with; keys of queries hold it, so that both places must say the same. */
const LIST = {}
const listKey = api.queryOptions('get', '/api/runs', LIST).queryKey

export function useRunList() {
  // While folders are searched the list grows without an event for each.
  return api.useQuery('get', '/api/runs', LIST, { refetchInterval: (query) => (query.state.data?.scanning ? 1000 : 30_000) })
}

export function useRun(run: string, enabled = true) {
  return api.useQuery('get', '/api/runs/{run}', { params: { path: { run } } }, { enabled })
}

/** Listens as long as the pages are open. */
export function useRunEvents(): void {
  const queries = useQueryClient()
  useEffect(() => {
    const events = new EventSource('/api/events')
    events.addEventListener('open', () => setReachable(true))
    events.addEventListener('error', () => setReachable(false))
    events.addEventListener('run', (event) => takeIn(queries, JSON.parse(event.data) as Run))
    return () => events.close()
  }, [queries])
}

/** A changed run, into all that show it. */
export function takeIn(queries: QueryClient, run: Run): void {
  const key = api.queryOptions('get', '/api/runs/{run}', { params: { path: { run: run.run } } }).queryKey
  const before = queries.getQueryData<Run>(key)
  queries.setQueryData<Run>(key, run)
  queries.setQueryData<RunList>(listKey, (list) => list && { ...list, runs: withRun(list.runs, run) })
  if (run.status === 'ready' && before?.status !== 'ready') forget(queries, run.run)
}

function withRun(runs: readonly Run[], run: Run): Run[] {
  return runs.some((each) => each.run === run.run) ? runs.map((each) => (each.run === run.run ? run : each)) : [run, ...runs]
}

/** What was read of a run before it was imported anew holds no more. */
function forget(queries: QueryClient, run: string): void {
  void queries.invalidateQueries({
    predicate: ({ queryKey: [first, path, init] }) => {
      if (first === FINDINGS) return path === run
      const asked = init as { params?: { path?: { run?: string } } } | undefined
      return typeof path === 'string' && path.startsWith('/api/runs/{run}/') && asked?.params?.path?.run === run
    },
  })
}
