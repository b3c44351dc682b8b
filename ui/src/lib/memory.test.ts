import { expect, test } from 'vitest'
import { changeFrom, deviceNamed, levelAt, ownerTree, stepAt } from './memory'

const CURVE = { times_ns: [0, 10, 20, 40], bytes: [5, 7, 3, 9] }

test.each([[-5, 5], [0, 5], [9, 5], [10, 7], [39, 3], [1000, 9]])('at %d ns %d bytes live', (at, bytes) => {
  expect(levelAt(CURVE, at)).toBe(bytes)
})

test('without a curve no level is known', () => expect(levelAt({ times_ns: [], bytes: [] }, 3)).toBeNull())

test.each([[10, 1, 20], [10, -1, 0], [15, -1, 10], [15, 1, 20], [0, -1, 0], [40, 1, 40], [15, 99, 40], [15, -Infinity, 0]])(
  'from %d ns, %d changes on, lies %d ns', (at, by, found) => expect(changeFrom(CURVE.times_ns, at, by)).toBe(found),
)

test('the device of the address goes before that of the header', () => {
  const devices = ['cpu', 'cuda:0', 'cuda:1']
  expect(deviceNamed(devices, 'cpu', 1)).toBe('cpu')
  expect(deviceNamed(devices, null, 1)).toBe('cuda:1')
  expect(deviceNamed(devices, 'npu:7', null)).toBeNull()
  expect(deviceNamed([null], null, 0)).toBeNull()
})

test('blocks stand below their operators, and all sum to what lives', () => {
  const owners = [
    { name: 'w', op: 'mm', size_bytes: 3, slice_id: 4 },
    { name: 'x', op: 'mm', size_bytes: 2, slice_id: null },
    { name: null, op: null, size_bytes: 9, slice_id: null },
  ]
  const tree = ownerTree(owners, 20, { unknown: '?', others: 'rest' })
  expect(tree.map(({ name, value }) => [name, value])).toEqual([['?', 9], ['rest', 6], ['mm', 5]])
  expect(tree[2]!.children).toEqual([{ name: 'w', value: 3, slice: 4 }, { name: 'x', value: 2 }])
})

test('the step under way', () => {
  const steps = [{ step: 3, start_ns: 0, dur_ns: 10 }, { step: 4, start_ns: 10, dur_ns: 5 }]
  expect([0, 10, 15].map((at) => stepAt(steps, at))).toEqual([3, 4, null])
})
