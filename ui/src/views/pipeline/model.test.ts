import { expect, test } from 'vitest'
import type { PipelineOperator } from '../../api/shapes'
import { chainOf, curveOf, emptyShare, isFirstOnly, isOfWholeOnly, layOut, reasonOf } from './model'

function operator(op_id: number, parent_id: number | null, usage: number | null, timed: [number, number] | null = null): PipelineOperator {
  const queue = usage === null ? null : { capacity: 16, mean_size: usage * 16, usage_share: usage, empty_share: 0, samples: 10 }
  return { op_id, parent_id, op_type: `T${op_id}`, name: `T${op_id}`, workers: 1, count: timed?.[0] ?? null, total_ns: timed?.[1] ?? null, output_queue: queue }
}

const CHAIN = [operator(0, null, null), operator(1, 0, 0.09), operator(2, 1, 0.0), operator(3, 2, 0.85)]

test('readers stand at the left, training at the right', () => {
  const { nodes, pipes, columns, rows } = layOut(CHAIN)
  expect(nodes.map(({ op, column }) => [op?.op_id ?? 'training', column])).toEqual([[1, 2], [2, 1], [3, 0], ['training', 3]])
  expect(pipes.map(({ from, to }) => [from.op.op_id, to.op?.op_id ?? 'training'])).toEqual([[1, 'training'], [2, 1], [3, 2]])
  expect([columns, rows]).toEqual([4, 1])
})

test('two readers have a row each, and meet between them', () => {
  const { nodes, rows } = layOut([operator(0, null, 0.5), operator(1, 0, 0.5), operator(2, 0, 0.5)])
  expect(nodes.map(({ op, row }) => [op?.op_id ?? 'training', row])).toEqual([[0, 0.5], [1, 0], [2, 1], ['training', 0.5]])
  expect(rows).toBe(2)
})

test('operators that name each other as parents end somewhere', () => {
  expect(layOut([operator(0, 1, 0.5), operator(1, 0, 0.5), operator(2, null, 0.5)]).nodes).toHaveLength(2)
})

test('the reason is that of the numbers', () => {
  expect(reasonOf(CHAIN[2]!, CHAIN)).toEqual({ because: 'drop', input: 0.85, output: 0 })
  expect(reasonOf(CHAIN[3]!, CHAIN)).toEqual({ because: 'reading' })
  const timed = [operator(0, null, 0.1, [10, 1000]), operator(1, 0, null, [10, 3000])]
  expect(reasonOf(timed[1]!, timed)).toEqual({ because: 'time', per_batch_ns: 300, share: 0.75 })
})

test('of a part it is told what is known of all steps only', () => {
  const whole = operator(1, null, 0.5)
  const part: PipelineOperator = { ...whole, output_queue: { capacity: 16, mean_size: null, usage_share: null, empty_share: null, samples: null } }
  const range = { from_ns: null, to_ns: null, steps: [3] }
  expect(isOfWholeOnly({ range, operators: [part] })).toBe(true)
  expect(isOfWholeOnly({ range, operators: [whole, operator(2, 1, null)] })).toBe(false)
  expect(isOfWholeOnly({ range: null, operators: [part] })).toBe(false)
})

test('a queue without a sample has no share of empty ones', () => {
  const queue = { queue: 'host', stage: 'process', samples: 4, capacity: 4, mean_size: 1, usage_share: 0.25, empty_count: 1, full_count: 0 }
  expect([queue, { ...queue, samples: 0, empty_count: 0 }, { ...queue, samples: null, empty_count: null }].map(emptyShare)).toEqual([0.25, null, null])
})

test('the first batch alone is no wait', () => {
  const bound = { waits: 1, batches: 1, wait_ns: 0, share_of_step: 0, mean_wait_ns: null, first_wait_ns: 200 }
  expect(isFirstOnly(bound)).toBe(true)
  expect(isFirstOnly({ ...bound, batches: 2, wait_ns: 5, mean_wait_ns: 5 })).toBe(false)
  expect(isFirstOnly({ ...bound, first_wait_ns: null })).toBe(false)
})

test('sending is a stage where its queue was recorded', () => {
  const queue = { queue: 'host', stage: 'process', samples: 2, capacity: 4, mean_size: 1, usage_share: 0.25, empty_count: 1, full_count: 0 }
  expect(chainOf({ queues: [queue] }).map(({ stage }) => stage)).toEqual(['process', 'fetch'])
  expect(chainOf({ queues: [{ ...queue, queue: 'device', stage: 'send' }] }).map(({ stage, queues }) => [stage, queues.length])).toEqual([['process', 0], ['send', 1], ['fetch', 0]])
})

test('the queue of the last operator is that of the host, where operators have none of their own', () => {
  const queues = [{ queue: 'host', stage: 'process', samples: 2, capacity: 4, mean_size: 1, usage_share: 0.25, empty_count: 1, full_count: 0 }]
  expect(curveOf(CHAIN[1]!, CHAIN, { queues }, ['host'])).toBe('host')
  expect(curveOf(CHAIN[2]!, CHAIN, { queues }, ['host'])).toBeNull()
  expect(curveOf(CHAIN[2]!, CHAIN, { queues }, ['host', 'op 2'])).toBe('op 2')
})
