// @vitest-environment jsdom
import { cleanup, fireEvent, screen } from '@testing-library/react'
import { afterEach, beforeAll, expect, test, vi } from 'vitest'
import { show } from '../../testing/render'
import type { Column } from './column'
import { DataTable } from './DataTable'

// jsdom lays nothing out, and rows out of view are not drawn.
beforeAll(() => {
  Object.defineProperties(HTMLElement.prototype, { clientHeight: { value: 600 }, clientWidth: { value: 800 } })
})

afterEach(cleanup)

interface Operator {
  readonly name: string
  readonly total_ns: number | null
}

const ROWS: Operator[] = [{ name: 'MatMul', total_ns: 20 }, { name: 'Cast', total_ns: null }, { name: 'Conv2D', total_ns: 3000 }]
const COLUMNS: Column<Operator>[] = [
  { id: 'name', label: 'Name', value: (row) => row.name },
  { id: 'total', label: 'Total', as: 'time', value: (row) => row.total_ns },
]

const names = () => screen.queryAllByRole('row').slice(1).map((row) => row.firstElementChild?.textContent)
const table = <DataTable label="Operators" rows={ROWS} columns={COLUMNS} rowKey={(row) => row.name} searchable />

test('a click on a column sorts, numbers largest first; unknown stays last', () => {
  show(table)
  expect(names()).toEqual(['MatMul', 'Cast', 'Conv2D'])
  fireEvent.click(screen.getByText('Total'))
  expect(names()).toEqual(['Conv2D', 'MatMul', 'Cast'])
  fireEvent.click(screen.getByText('Total'))
  expect(names()).toEqual(['MatMul', 'Conv2D', 'Cast'])
  expect(screen.getByRole('columnheader', { name: /Total/ }).getAttribute('aria-sort')).toBe('ascending')
})

test('search keeps what answers, and says so where nothing does', () => {
  show(table)
  fireEvent.change(screen.getByRole('textbox'), { target: { value: 'cnv' } })
  expect(names()).toEqual(['Conv2D'])
  fireEvent.change(screen.getByRole('textbox'), { target: { value: 'zzz' } })
  expect(screen.getByText(/No row answers/)).toBeTruthy()
})

test('numbers are exact on hover', () => {
  show(table)
  expect(screen.getByText(/3.00.µs/).closest('td')?.title.replaceAll('\u00a0', ' ')).toBe('3,000 ns')
})

test('where the server sorts, rows stay and it is told', () => {
  const onSort = vi.fn()
  const parts = { length: 500, rowAt: (at: number) => ROWS[at], first: 0, onView: vi.fn() }
  const served = { total: 500, parts, sort: { id: 'name', desc: false }, onSort, query: '', onQuery: vi.fn() }
  show(<DataTable label="Operators" rows={ROWS} columns={COLUMNS} rowKey={(row) => row.name} served={served} />)
  fireEvent.click(screen.getByText('Total'))
  expect(onSort).toHaveBeenCalledWith({ id: 'total', desc: true })
  expect(names().slice(0, 3)).toEqual(['MatMul', 'Cast', 'Conv2D'])
})

test('rows open by key, arrows move', () => {
  const onOpen = vi.fn()
  show(<DataTable label="Operators" rows={ROWS} columns={COLUMNS} rowKey={(row) => row.name} onOpen={onOpen} />)
  const [, first, second] = screen.getAllByRole('row')
  fireEvent.keyDown(first!, { key: 'ArrowDown' })
  expect(document.activeElement).toBe(second)
  fireEvent.keyDown(second!, { key: 'Enter' })
  expect(onOpen).toHaveBeenCalledWith(ROWS[1])
})

test('a row unfolds', () => {
  show(<DataTable label="Operators" rows={ROWS} columns={COLUMNS} rowKey={(row) => row.name} expanded={(row) => `more of ${row.name}`} />)
  fireEvent.click(screen.getAllByRole('button', { name: 'Show more' })[0]!)
  expect(screen.getByText('more of MatMul')).toBeTruthy()
})
