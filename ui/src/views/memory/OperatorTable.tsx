import { keepPreviousData } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api } from '../../api/client'
import type { OperatorMemory } from '../../api/shapes'
import { Loaded } from '../../components/Loaded'
import type { Column } from '../../components/table/column'
import { DataTable } from '../../components/table/DataTable'
import { count } from '../../lib/units'
import { useTexts } from '../../state/language'
import type { Texts } from '../../texts/catalogues'
import styles from './Memory.module.css'
import type { MemoryChoice } from './useMemory'

/** What each operator allocated. */
export function OperatorTable({ choice }: { choice: MemoryChoice }) {
  const { memory: texts } = useTexts()
  const found = api.useQuery('get', '/api/runs/{run}/memory/operators', { params: { path: { run: choice.run }, query: choice.query } }, { placeholderData: keepPreviousData })
  const all = found.data?.rows.reduce((sum, row) => sum + row.total_bytes, 0) ?? 0
  const columns = useMemo(() => operatorColumns(texts, all), [texts, all])
  return (
    <Loaded query={found} height={480}>
      {({ rows, total_rows: total }) => (
        <>
          <DataTable label={`${texts.allocations}: ${texts.byOperator}`} rows={rows} columns={columns} rowKey={(row) => row.op ?? ''} searchable sort={{ id: 'total_bytes', desc: true }} />
          {total > rows.length && <p className={styles.note}>{texts.listedOnly(count(rows.length), count(total))}</p>}
        </>
      )}
    </Loaded>
  )
}

function operatorColumns(texts: Texts['memory'], all: number): Column<OperatorMemory>[] {
  const named = texts.columns
  return [
    { id: 'op', label: named.op, value: (row) => row.op ?? texts.unknownOwner },
    { id: 'count', label: named.count, as: 'count', value: (row) => row.count, width: 96 },
    { id: 'total_bytes', label: named.total, as: 'bytes', value: (row) => row.total_bytes, width: 104 },
    { id: 'share', label: named.share, as: 'share', bar: 'compute', value: (row) => (all > 0 ? row.total_bytes / all : null), width: 150 },
    { id: 'max_bytes', label: named.most, as: 'bytes', value: (row) => row.max_bytes, width: 104 },
    { id: 'live_at_peak_bytes', label: named.atPeak, as: 'bytes', value: (row) => row.live_at_peak_bytes, width: 130 },
  ]
}
