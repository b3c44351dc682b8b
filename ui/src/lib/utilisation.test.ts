import { expect, test } from 'vitest'
import { concurrency, deviceSegments, shareOf, streamSegments } from './utilisation'

const DEVICE = { span_ns: 100, busy_ns: 80, idle_ns: 20, compute_ns: 50, communication_ns: 40, communication_exposed_ns: 25, copy_exposed_ns: 5 }

test('the parts of a device sum to its span', () => {
  const parts = deviceSegments(DEVICE)!
  expect(parts.map(({ part, ns }) => [part, ns])).toEqual([['compute', 50], ['exposed', 25], ['exposedCopy', 5], ['idle', 20]])
  expect(parts.reduce((sum, { ns }) => sum + ns, 0)).toBe(100)
})

test('where kernels were not recorded nothing is known', () => {
  expect(deviceSegments({ ...DEVICE, compute_ns: null, idle_ns: null })).toBeNull()
  expect(streamSegments({ busy_ns: null, kinds: { kernel_ns: null, communication_ns: 3, copy_ns: null } }, 100)).toBeNull()
})

test('kinds that overlap on a stream are not counted twice', () => {
  const parts = streamSegments({ busy_ns: 30, kinds: { kernel_ns: 20, communication_ns: 15, copy_ns: 4 } }, 100)!
  expect(parts.map(({ ns }) => ns)).toEqual([20, 10, 0, 70])
})

test('streams at once', () => {
  const stream = (kernel_ns: number) => ({ busy_ns: kernel_ns, kinds: { kernel_ns, communication_ns: 0, copy_ns: 0 } })
  expect(concurrency({ compute_ns: 40, streams: [stream(30), stream(30)] })).toBe(1.5)
  expect(concurrency({ compute_ns: 0, streams: [] })).toBeNull()
})

test('a share of nothing or of what is not known is not known', () => {
  expect([shareOf(1, 4), shareOf(null, 4), shareOf(1, null), shareOf(0, 0)]).toEqual([0.25, null, null, null])
})
