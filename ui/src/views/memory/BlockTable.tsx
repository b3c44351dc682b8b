import { Anchor } from '@mantine/core'
import { keepPreviousData } from '@tanstack/react-query'
import { useDeferredValue, useMemo } from 'react'
import { Link } from 'wouter'
import { api } from '../../api/client'
import type { Allocation } from '../../api/shapes'
import { Loaded } from '../../components/Loaded'
import type { Column, Sort } from '../../components/table/column'
import { DataTable } from '../../components/table/DataTable'
import { useTexts } from '../../state/language'
import { useOpenSlice, useSliceAddress } from '../../state/slices'
import { useHeld } from '../../state/tables'
import type { Texts } from '../../texts/catalogues'
import { lifeEnd, ownerName } from './LiveCard'
import type { MemoryChoice } from './useMemory'

const PAGE = 200
const SORTED: readonly string[] = ['op', 'layout', 'size_bytes', 'start_ns', 'dur_ns', 'free_slice_id']
const FIRST: Sort = { id: 'size_bytes', desc: true }

/** Every block; the server sorts, searches and pages, the address holds how. */
export function BlockTable({ choice }: { choice: MemoryChoice }) {
  const { memory: texts } = useTexts()
  const held = useHeld(FIRST)
  const sort = SORTED.includes(held.sort.id) ? held.sort : FIRST
  const { offset } = held
  const asked = useDeferredValue(held.query).trim().slice(0, 200)
  const query = {
    ...choice.query, sort: sort.id, ascending: !sort.desc, limit: PAGE, offset,
    ...(asked === '' ? {} : { search: asked }),
  }
  const found = api.useQuery('get', '/api/runs/{run}/memory/allocations', { params: { path: { run: choice.run }, query } }, { placeholderData: keepPreviousData })
  const layouts = found.data?.rows.some(({ layout }) => layout !== null) ?? false
  const open = useOpenSlice()
  const address = useSliceAddress()
  const columns = useMemo(() => blockColumns(texts, address, layouts), [texts, address, layouts])
  return (
    <Loaded query={found} height={480}>
      {({ rows, total_rows: total }) => (
        <DataTable label={texts.allocations} rows={rows} columns={columns} rowKey={(row) => `${row.start_ns} ${row.end_ns} ${row.address} ${row.slice_id} ${row.name} ${row.size_bytes}`} searchable placeholder={texts.search} empty={texts.noAllocations}
          onOpen={(row) => row.slice_id !== null && open(row.slice_id)}
          served={{ ...held, sort, total, limit: PAGE }} />
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
