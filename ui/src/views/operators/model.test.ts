import { expect, test } from 'vitest'
import type { OperatorRow } from '../../api/shapes'
import { countOf, kindOf, ranked, rowKey, spoken, tabsOf, totalOf, wholeOf } from './model'

function row(name: string, self_ns: number | null, device_kind: string | null = null, more: Partial<OperatorRow> = {}): OperatorRow {
  const unknown = { mean_ns: null, min_ns: null, max_ns: null, p50_ns: null, p90_ns: null, share: null, info: null, op_type: null, count: null }
  return { name, device_kind, self_ns, total_ns: self_ns, ...unknown, ...more }
}

test('a tab for each side, and for each kind of processor where there are several, most time first', () => {
  const device = [row('a', 5, 'ai_core'), row('b', 9, 'communication'), row('c', 1, 'ai_core'), row('d', 1, null)]
  expect(tabsOf(device, [row('e', 1)]).map(({ id }) => id)).toEqual(['device', 'communication', 'ai_core', 'host'])
  expect(tabsOf([row('a', 5, 'gpu')], []).map(({ id }) => id)).toEqual(['device'])
  expect(tabsOf([], [])).toEqual([])
})

test('twenty are shown, all others as one; parts sum to the whole', () => {
  const rows = Array.from({ length: 25 }, (_, at) => row(`op ${at}`, at + 1))
  const entries = ranked(rows, totalOf(rows), rows.length)
  expect(entries).toHaveLength(21)
  expect(entries.at(-1)).toMatchObject({ row: null, rows: 5, self_ns: 15 })
  expect(entries.reduce((sum, entry) => sum + entry.self_ns, 0)).toBe(325)
  expect(countOf(0.5, entries)).toBe(8)
})

test('of the first rows of a table the share tells the whole', () => {
  const rows = [row('a', 600, null, { share: 600 / 1007 }), row('b', 400)]
  expect(wholeOf({ rows, total_rows: 3 })).toBe(1007)
  expect(wholeOf({ rows, total_rows: 2 })).toBe(1000)
})

test('rows whose time is not known take no part', () => {
  const rows = [row('a', 3), row('b', null), row('c', 0)]
  expect(ranked(rows, totalOf(rows), rows.length).map((entry) => entry.row?.name)).toEqual(['a'])
})

test('communication and copies keep their colours', () => {
  expect(kindOf(row('x', 1, 'communication'), 'device')).toBe('communication')
  expect(kindOf(row('x', 1, null, { op_type: 'memset' }), 'device')).toBe('copy')
  expect(kindOf(row('x', 1), 'host')).toBe('host')
})

test('rows of a name are told apart by processor and shapes', () => {
  const one = row('mm', 1, null, { info: { input_shapes: [[2, 3]] } })
  const other = row('mm', 1, null, { info: { input_shapes: [[4, 3]] } })
  expect(rowKey(one)).not.toBe(rowKey(other))
})

test('names fit into a sentence', () => {
  expect(spoken('[communication without operator]')).toBe('communication without operator')
  expect(spoken('x'.repeat(300))).toHaveLength(72)
})
