import { expect, test } from 'vitest'
import { partsAround } from './parts'

test.each([
  [0, 20, [0]],
  [240, 260, [0]],
  [760, 790, [0, 1]],
  [1100, 1120, [0, 1]],
  [4400, 4420, [4]],
  [5980, 5999, [5]],
])('rows %d to %d of 6000', (first, last, parts) => {
  expect(partsAround(first, last, 1000, 6000)).toEqual(parts)
})

test('of an empty table there is but the first part', () => {
  expect(partsAround(0, 0, 1000, 0)).toEqual([0])
})
