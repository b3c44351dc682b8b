import { expect, test } from 'vitest'
import { byteTick, byteTicks, timeTick } from './ticks'
import { SPACE } from './units'

const plain = (text: string) => text.replaceAll(SPACE, ' ')

test.each([
  [1, 1, 1],
  [1000, 1000, 200],
  [1024 * 5, 5 * 1024, 1024],
  [1.3 * 2 ** 30, 1.5 * 2 ** 30, 2 ** 29],
  [79.2 * 2 ** 30, 80 * 2 ** 30, 20 * 2 ** 30],
])('an axis up to %d bytes ends at %d, with ticks each %d', (most, max, interval) => {
  expect(byteTicks(most)).toEqual({ max, interval })
})

test('an axis shows all of what it is made for, in few ticks', () => {
  for (let most = 1; most < 2 ** 50; most = most * 1.7 + 1) {
    const { max, interval } = byteTicks(most)
    expect(max).toBeGreaterThanOrEqual(most)
    expect(max / interval).toBeLessThanOrEqual(7)
  }
})

test('ticks of a narrow view differ', () => {
  expect([12_345_600_000, 12_345_700_000].map(timeTick).map(plain)).toEqual(['12.3456 s', '12.3457 s'])
  expect([0, 200_000_000].map(timeTick).map(plain)).toEqual(['0 ns', '200 ms'])
  expect(plain(byteTick(1.5 * 2 ** 30))).toBe('1.5 GiB')
})
