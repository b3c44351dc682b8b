import { describe, expect, it } from 'vitest'
import { chosenStep, numberRanges, outlierLimit, quantile, slowestOf, stepRows, type TracedStep } from './steps'

function step(number: number, total: number, more: Partial<TracedStep> = {}): TracedStep {
  return {
    step: number, index: number, window: 1, start_ns: 0, gap_before_ns: 0, interval_ns: null, forward_backward_ns: null,
    tail_ns: null, total_ns: total, complete: true, first_of_window: false, source: 'marked', ...more,
  }
}

describe('stepRows', () => {
  it('joins what both tell by the place of the step, and marks what stands out', () => {
    const traced = [100, 102, 98, 101, 250].map((total, at) => step(at + 1, total))
    const rows = stepRows(traced, [{ index: 5, dur_ns: 240, budget: null }], [{ step: 5, reason: 'why' }])
    expect(rows.map((row) => row.outlier)).toEqual([false, false, false, false, true])
    expect(rows[4]).toMatchObject({ dur_ns: 240, reasons: ['why'] })
    expect(rows[4]!.factor).toBeCloseTo(240 / 101)
    expect(slowestOf(rows)?.step).toBe(5)
  })

  it('knows no outlier among incomplete steps', () => {
    const rows = stepRows([1, 2, 3, 4].map((at) => step(at, 100)).concat(step(5, 900, { complete: false })), [], [])
    expect(rows.some((row) => row.outlier)).toBe(false)
    expect(slowestOf(rows)?.dur_ns).toBe(100)
  })
})

it('steps that hardly vary have no outlier, nor have three', () => {
  expect(outlierLimit([1000, 1000, 1000, 1000, 1050])).toBe(1100)
  expect(outlierLimit([1, 1, 900])).toBeNull()
})

it('quantiles interpolate', () => {
  expect(quantile([4, 1, 2, 3], 0.5)).toBe(2.5)
  expect(quantile([10, 20], 0.9)).toBeCloseTo(19)
  expect(quantile([], 0.5)).toBeNull()
})

it('a typed step is one there is, or the average', () => {
  expect(chosenStep(' 3 ', [1, 3])).toBe(3)
  expect(chosenStep('Average', [1])).toBe('average')
  expect(chosenStep('', [1])).toBe('average')
  for (const wrong of ['2', '-1', '1.5', 'all', '1e3', '99999999999999999']) expect(chosenStep(wrong, [1, 3]), wrong).toBeNull()
})

it('numbers become ranges', () => {
  expect(numberRanges([3, 1, 2, 9, 9])).toBe('1-3, 9')
})
