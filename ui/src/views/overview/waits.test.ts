import { expect, it } from 'vitest'
import type { Pipeline, RankReport } from '../../api/shapes'
import { CATALOGUES } from '../../texts/catalogues'
import { idleForData, waitWords } from './waits'

type Waits = NonNullable<Pipeline['data_bound']>

const WAITS: Pick<Pipeline, 'data_bound'> = {
  data_bound: { wait_ns: 351e6, first_wait_ns: 0, share_of_step: 0.47, waits: null, batches: 6 } as Partial<Waits> as Waits,
}
const words = (idle: number | null) => waitWords(WAITS, idle, CATALOGUES.en)?.replaceAll('\u00a0', ' ')

it('waits that work of the devices hides are said to be hidden', () => {
  expect(words(0.001)).toBe('Training waits for data 351 ms in all, 47.0 % of the steps. The devices work meanwhile: they idle for data 0.1 % of a step.')
  expect(words(0.4)).toBe('Training waits for data 351 ms in all, 47.0 % of the steps.')
  expect(words(null)).toBe(words(0.4))
})

it('only the time of devices hides a wait', () => {
  const entry = (basis: string) => ({ step_summary: { budget: { basis, idle_data_wait_ns: 5, total_ns: 50 } } }) as RankReport
  expect(idleForData(entry('device'))).toBe(0.1)
  expect(idleForData(entry('host'))).toBeNull()
  expect(idleForData(null)).toBeNull()
})
