import { expect, test } from 'vitest'
import * as units from './units'
import { readable, significant, SPACE, UNKNOWN } from './units'

/** With plain spaces, as the expectations are written. */
const plain = <Rest extends unknown[]>(read: (...rest: Rest) => string) => (...rest: Rest) => read(...rest).replaceAll(SPACE, ' ')
const [time, bytes, share, count] = [plain(units.time), plain(units.bytes), plain(units.share), plain(units.count)]
const [exact, exactly] = [plain(units.exact), plain(units.exactly)]

test.each([
  [0, '0 ns'],
  [7, '7 ns'],
  [999, '999 ns'],
  [1000, '1.00 µs'],
  [1234, '1.23 µs'],
  [12_250, '12.3 µs'],
  [205_380_912, '205 ms'],
  [999_600, '1.00 ms'],
  [999_400, '999 µs'],
  [1_500_000_000, '1.50 s'],
  [123_456_000_000_000, '123456 s'],
  [-2500, '-2.50 µs'],
])('time %d', (ns, text) => {
  expect(time(ns)).toBe(text)
})

test.each([
  [512, '512 B'],
  [1536, '1.50 KiB'],
  [1023, '1023 B'],
  [3 * 2 ** 30, '3.00 GiB'],
])('bytes %d', (size, text) => {
  expect(bytes(size)).toBe(text)
})

test.each([
  [0, '0.0 %'],
  [0.0001, '< 0.1 %'],
  [-0.0001, '> -0.1 %'],
  [0.1225, '12.3 %'],
  [0.616, '61.6 %'],
  [1, '100 %'],
  [0.9996, '100 %'],
])('share %d', (fraction, text) => {
  expect(share(fraction)).toBe(text)
})

test('counts are whole up to a million', () => {
  expect(count(12345)).toBe('12,345')
  expect(count(1_090_000)).toBe('1.09 M')
  expect(count(803.333333)).toBe('803')
  expect(count(1.6667)).toBe('1.67')
})

test('unknown is never 0', () => {
  for (const read of [time, bytes, count, share]) expect(read(null)).toBe(UNKNOWN)
  expect(readable(undefined, 'number')).toBe(UNKNOWN)
})

test('numbers keep their units', () => {
  expect(units.glued('42.1 ms of each step (53.1 %), < 0.1 % of 3 steps')).toBe(`42.1${SPACE}ms of each step (53.1${SPACE}%), <${SPACE}0.1${SPACE}% of 3 steps`)
})

test('exact values keep every digit', () => {
  expect(exact(205_380_912, 'ns')).toBe('205,380,912 ns')
  expect(exactly(1536, 'bytes')).toBe('1,536 B')
})

test('three significant digits, rounding over a power of ten', () => {
  expect(significant(9.996)).toBe('10.0')
  expect(significant(0.01234)).toBe('0.0123')
  expect(significant(99.96)).toBe('100')
})
