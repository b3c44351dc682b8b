import { expect, test } from 'vitest'
import { stripLanes, stripParts } from './strip'

test('parts fill the step in order', () => {
  const parts = stripParts({ interval_ns: 10, forward_backward_ns: 60, tail_ns: 30, total_ns: 100 })
  expect(parts.map(({ term, from, width }) => [term, from, width])).toEqual([
    ['interval', 0, 0.1],
    ['forwardBackward', 0.1, 0.6],
    ['tail', 0.7, 0.3],
  ])
})

test('what comes before is left free where the interval is unknown', () => {
  const [first] = stripParts({ interval_ns: null, forward_backward_ns: 60, tail_ns: 20, total_ns: 100 })
  expect(first).toMatchObject({ term: 'forwardBackward', width: 0.6 })
  expect(first!.from).toBeCloseTo(0.2)
})

const event = (stream: string, start_ns: number, dur_ns: number | null) => ({ name: 'all_reduce', stream, start_ns, dur_ns })

test('a lane for each stream, with the gaps between', () => {
  const lanes = stripLanes([event('b', 1100, 200), event('a', 1500, 100), event('b', 1700, 300)], 1000, 1000)
  expect(lanes.map((lane) => lane.stream)).toEqual(['b', 'a'])
  expect(lanes[0]!.gaps.map((gap) => gap.ns)).toEqual([100, 400])
  expect(lanes[1]!.gaps.map((gap) => gap.ns)).toEqual([500, 400])
})

test('marks too near to be told apart are one, and nothing leaves the step', () => {
  const [lane] = stripLanes([event('a', 100, 100), event('a', 201, 99), event('a', 990, 500), event('a', 5, null)], 0, 1000)
  expect(lane!.marks.map(({ count, ns }) => [count, ns])).toEqual([[2, 199], [1, 500]])
  expect(lane!.marks.at(-1)!.from + lane!.marks.at(-1)!.width).toBeLessThanOrEqual(1)
})

test('what stands for several is named after the longest, and opens it', () => {
  const short = { ...event('a', 100, 100), slice_id: 7 }
  const [lane] = stripLanes([short, { ...event('a', 200, 300), name: 'all_gather', slice_id: 9 }, { ...event('a', 501, 50), slice_id: 11 }], 0, 1000)
  expect(lane!.marks).toHaveLength(1)
  expect(lane!.marks[0]).toMatchObject({ name: 'all_gather', slice: 9, count: 3, ns: 450, from: 0.1 })
})
