import { Anchor } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQueries } from '@tanstack/react-query'
import { useMemo } from 'react'
import { Link } from 'wouter'
import { api } from '../../api/client'
import type { Allocation } from '../../api/shapes'
import { Loaded } from '../../components/Loaded'
import type { Column, Sort } from '../../components/table/column'
import { DataTable } from '../../components/table/DataTable'
import { useTexts } from '../../state/language'
import { laterRows, PART, useScrolled } from '../../state/scrolled'
import { useOpenSlice, useSliceAddress } from '../../state/slices'
import { useHeld } from '../../state/tables'
import type { Texts } from '../../texts/catalogues'
import { lifeEnd, ownerName } from './LiveCard'
import type { MemoryChoice } from './useMemory'

const ALLOCATIONS = '/api/runs/{run}/memory/allocations'
/** Letters of a search that the server takes. */
const LONGEST_SEARCH = 200
const SORTED: readonly string[] = ['op', 'layout', 'size_bytes', 'start_ns', 'dur_ns', 'free_slice_id']
const FIRST: Sort = { id: 'size_bytes', desc: true }

/** Every block: rows come as they are scrolled to; the server sorts and searches, the address holds how. */
export function BlockTable({ choice }: { choice: MemoryChoice }) {
  const { memory: texts } = useTexts()
  const held = useHeld(FIRST)
  const sort = SORTED.includes(held.sort.id) ? held.sort : FIRST
  const [asked] = useDebouncedValue(held.query.trim().slice(0, LONGEST_SEARCH), 200)
  const part = (number: number) => {
    const query = { ...choice.query, sort: sort.id, ascending: !sort.desc, limit: PART, offset: number * PART, ...(asked === '' ? {} : { search: asked }) }
    return { params: { path: { run: choice.run }, query } }
  }
  const found = api.useQuery('get', ALLOCATIONS, part(0), { placeholderData: keepPreviousData })
  const scrolled = useScrolled(held, found.data?.total_rows ?? 0)
  const later = laterRows<Allocation>(scrolled.wanted, useQueries({ queries: scrolled.wanted.map((number) => api.queryOptions('get', ALLOCATIONS, part(number))) }))
  const layouts = found.data?.rows.some(({ layout }) => layout !== null) ?? false
  const open = useOpenSlice()
  const address = useSliceAddress()
  const columns = useMemo(() => blockColumns(texts, address, layouts), [texts, address, layouts])
  return (
    <Loaded query={found} height={480}>
      {({ rows, total_rows: total }) => (
        <DataTable label={texts.allocations} rows={rows} columns={columns} rowKey={(row) => `${row.start_ns} ${row.end_ns} ${row.address} ${row.slice_id} ${row.name} ${row.size_bytes}`} searchable placeholder={texts.search} empty={texts.noAllocations}
          onOpen={(row) => row.slice_id !== null && open(row.slice_id)}
          served={{ ...held, sort, total, parts: scrolled.parts(rows, later) }} />
      )}
    </Loaded>
  )
}

function blockColumns(texts: Texts['memory'], address: (slice: number) => string, layouts: boolean): Column<Allocation>[] {
  const named = texts.columns
  return [
    { id: 'op', label: named.owner, value: (row) => ownerName(row) ?? texts.unknownOwner },
    ...(layouts ? [{ id: 'layout', label: named.layout, value: (row: Allocation) => row.layout, width: 150 }] : []),
    { id: 'size_bytes', label: named.size, as: 'bytes', value: (row) => row.size_bytes, width: 104 },
    { id: 'start_ns', label: named.start, as: 'time', value: (row) => row.start_ns, cell: (row) => lifeEnd(row.start_ns, texts.before), width: 104 },
    { id: 'dur_ns', label: named.life, as: 'time', value: (row) => row.dur_ns, cell: (row) => (row.end_ns === null ? <em>{texts.stays}</em> : lifeEnd(row.dur_ns, '–')), width: 112 },
    {
      id: 'free_slice_id', label: named.released, value: (row) => row.free_slice_id, width: 132,
      cell: (row) => (row.free_slice_id === null ? '–' : <Anchor component={Link} size="sm" href={address(row.free_slice_id)}>{texts.slice(row.free_slice_id)}</Anchor>),
    },
  ]
}
