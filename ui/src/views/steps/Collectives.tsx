import { Anchor } from '@mantine/core'
import { useMemo } from 'react'
import { Link } from 'wouter'
import type { Column } from '../../components/table/column'
import { DataTable } from '../../components/table/DataTable'
import type { StripEvent } from '../../lib/strip'
import { useTexts } from '../../state/language'
import { useOpenSlice, useSliceAddress } from '../../state/slices'
import styles from './Steps.module.css'

/** What the lanes show, as a table; opens the slices. */
export function Collectives({ communication, origin_ns }: { communication: readonly StripEvent[]; origin_ns: number }) {
  const { steps: texts } = useTexts()
  const address = useSliceAddress()
  const open = useOpenSlice()
  const columns = useMemo<readonly Column<StripEvent>[]>(
    () => [
      { id: 'name', label: texts.name, value: (row) => row.name, cell: (row) => (row.slice_id === undefined ? row.name : <Anchor component={Link} size="sm" href={address(row.slice_id)}>{row.name}</Anchor>) },
      { id: 'stream', label: texts.stream, value: (row) => row.stream, width: 160 },
      { id: 'start_ns', label: texts.start, value: (row) => row.start_ns - origin_ns, as: 'time', width: 150 },
      { id: 'dur_ns', label: texts.duration, value: (row) => row.dur_ns, as: 'time', width: 110 },
    ],
    [texts, address, origin_ns],
  )
  const rows = useMemo(() => communication.map((event, at) => ({ ...event, at })), [communication])
  if (rows.length === 0) return <p className={styles.note}>{texts.noCommunication}</p>
  return (
    <details className={styles.more}>
      <summary>{texts.communicationCount(rows.length)}</summary>
      <DataTable label={texts.communication} rows={rows} columns={columns} rowKey={(row) => row.at} height={300}
        {...(rows[0]!.slice_id === undefined ? {} : { onOpen: (row: StripEvent) => open(row.slice_id!) })} />
    </details>
  )
}
