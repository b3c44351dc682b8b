// @vitest-environment jsdom
import { cleanup, screen } from '@testing-library/react'
import { afterEach, expect, test } from 'vitest'
import type { Budget } from '../lib/budget'
import { show } from '../testing/render'
import { BudgetBar } from './BudgetBar'

afterEach(cleanup)

const BUDGET: Budget = {
  basis: 'device', total_ns: 1_000_000, compute_ns: 600_000, communication_exposed_ns: 100_000, copy_exposed_ns: 0,
  idle_ns: 300_000, idle_data_wait_ns: 250_000, idle_sync_ns: 0, idle_launch_ns: null, idle_other_ns: 50_000,
}

test('tells the parts in words, for who cannot see', () => {
  show(<BudgetBar budget={BUDGET} label="Step budget" />)
  expect(screen.getByRole('img').getAttribute('aria-label')).toMatch(/^Step budget: compute 60.0.%, exposed communication 10.0.%/)
})

test('lists causes of idle that took time; those unknown are left out, not 0', () => {
  show(<BudgetBar budget={BUDGET} label="Step budget" />, { language: 'zh' })
  const entries = screen.getAllByRole('listitem').map((entry) => entry.textContent.replaceAll('\u00a0', ' '))
  expect(entries).toContain('等待数据250 µs25.0 %')
  expect(entries.join()).not.toContain('下发过晚')
})
