import { Button } from '@mantine/core'
import { useMemo } from 'react'
import { Link } from 'wouter'
import type { Column } from '../../components/table/column'
import { DataTable } from '../../components/table/DataTable'
import { cellText, isNumeric, MOST_ROWS, type ResultRow } from '../../lib/sql'
import { count, exact, time } from '../../lib/units'
import { useTexts } from '../../state/language'
import { useSliceAddress } from '../../state/slices'
import styles from './Files.module.css'

export interface Result {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
  readonly truncated: boolean
  readonly took_ns: number
}

interface SqlResultProps {
  readonly result: Result
  readonly limit: number
  readonly onMore: (limit: number) => void
}

/** The rows of a query; numbers with all their digits, ids of slices open them. */
export function SqlResult({ result, limit, onMore }: SqlResultProps) {
  const { files: texts } = useTexts()
  const address = useSliceAddress()
  const rows = useMemo(() => result.rows.map((values, at): ResultRow => ({ at, values })), [result])
  const columns = useMemo(() => resultColumns(result, address), [result, address])
  const more = result.truncated && limit < MOST_ROWS
  return (
    <>
      <p>
        <span role="status">{result.truncated ? texts.truncated(count(rows.length)) : texts.resultRows(count(rows.length))} {texts.took(time(result.took_ns))}</span>
        {more && <Button size="compact-xs" variant="default" onClick={() => onMore(MOST_ROWS)}>{texts.moreRows(count(MOST_ROWS))}</Button>}
        {result.truncated && !more && <span>{texts.mostRows}</span>}
      </p>
      <DataTable label={texts.result} rows={rows} columns={columns} rowKey={(row) => row.at} searchable={rows.length > 20} empty={texts.noRows} height={520} />
    </>
  )
}

/** Width of a column of a few words, in pixels; long texts share what is left. */
const NUMBER = 132

function resultColumns({ columns, rows }: Result, address: (slice: number) => string): Column<ResultRow>[] {
  return columns.map((name, at): Column<ResultRow> => {
    const numeric = isNumeric(rows, at)
    const text = (row: ResultRow) => cell(row.values[at], name, numeric, address)
    const sorted = (row: ResultRow) => {
      const value = row.values[at]
      return value === null || typeof value === 'number' ? value : cellText(value)
    }
    return { id: `${at} ${name}`, label: name, value: sorted, cell: text, ...(numeric ? { as: 'number' as const, width: Math.max(NUMBER, name.length * 9 + 44) } : {}) }
  })
}

function cell(value: unknown, name: string, numeric: boolean, address: (slice: number) => string) {
  if (value === null || value === undefined) return <span className={styles.null}>NULL</span>
  if (!numeric) return <span title={cellText(value)}>{cellText(value)}</span>
  if (/(^|_)slice_id$|^parent_id$|^(from|to)_id$/.test(name) && Number.isInteger(value)) return <Link href={address(value as number)}>{String(value)}</Link>
  return <span title={/_ns$/.test(name) ? time(value as number) : undefined}>{exact(value as number)}</span>
}
