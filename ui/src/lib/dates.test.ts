import { expect, test } from 'vitest'
import { ago } from './dates'

const TEXTS = { now: 'now', minutes: (n: number) => `${n}m`, hours: (n: number) => `${n}h`, days: (n: number) => `${n}d` }

test.each([
  [5, 'now'],
  [-100, 'now'],
  [61, '1m'],
  [3 * 3600 + 5, '3h'],
  [2 * 86400, '2d'],
])('%d seconds before', (seconds, text) => {
  expect(ago(1_000_000 - seconds, 1_000_000, TEXTS, 'en')).toBe(text)
})

test('after two weeks the date', () => {
  expect(ago(0, 60 * 86400, TEXTS, 'en')).toMatch(/19(69|70)/)
})
