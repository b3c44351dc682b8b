import { expect, test } from 'vitest'
import { api, newQueries } from '../api/client'
import type { Run } from '../api/shapes'
import { FINDINGS, takeIn } from './runs'

const run = (status: Run['status']) => ({ run: 'a', name: 'a', status }) as Run

test('what was read of a run is forgotten once it was imported anew, findings too, and of no other run', () => {
  const queries = newQueries()
  const report = (of: string) => api.queryOptions('get', '/api/runs/{run}/report', { params: { path: { run: of } } }).queryKey
  const keys = ['a', 'b'].flatMap((of) => [report(of), [FINDINGS, of, null, 'en']])
  for (const key of keys) queries.setQueryData(key, {})
  const forgotten = () => keys.map((key) => queries.getQueryState(key)?.isInvalidated)
  takeIn(queries, run('importing'))
  expect(forgotten()).toEqual([false, false, false, false])
  takeIn(queries, run('ready'))
  expect(forgotten()).toEqual([true, true, false, false])
})
