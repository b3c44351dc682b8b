import { expect, test } from 'vitest'
import { cellText, inserted, isNumeric, sqlName } from './sql'

test.each([[null, 'NULL'], [3, '3'], ['a', 'a'], [true, 'true'], [{ a: [1] }, '{"a":[1]}']])('%o shows as %s', (value, text) => expect(cellText(value)).toBe(text))

test('columns of numbers stand at the right', () => {
  const rows = [[1, 'a', null, null], [null, 'b', null, 2], [2.5, 'c', null, 'x']]
  expect([0, 1, 2, 3].map((column) => isNumeric(rows, column))).toEqual([true, false, false, false])
})

test.each([['slices', 'slices'], ['index', '"index"'], ['sum(dur_ns)', '"sum(dur_ns)"'], ['a"b', '"a""b"']])('%s is written %s', (name, written) => expect(sqlName(name)).toBe(written))

test('a name goes where the cursor is', () => {
  expect(inserted('SELECT FROM x', 'name', 7, 7)).toEqual({ text: 'SELECT name FROM x', at: 11 })
  expect(inserted('', 'slices', 0, 0)).toEqual({ text: 'slices', at: 6 })
  expect(inserted('SELECT a, b', 'c', 10, 11)).toEqual({ text: 'SELECT a, c', at: 11 })
  expect(inserted('count(x)', 'y', 6, 7)).toEqual({ text: 'count(y)', at: 7 })
  expect(inserted('SELECT', 'y', 6, 6)).toEqual({ text: 'SELECT y', at: 8 })
})
