import type { KeyboardEvent, MouseEvent, ReactNode } from 'react'
import { exactly } from '../../lib/units'
import { useTexts } from '../../state/language'
import { DownIcon, UnfoldIcon } from '../icons'
import { ShareBar } from '../ShareBar'
import { cellText, type Column } from './column'
import styles from './DataTable.module.css'

interface TableRowProps<Row> {
  readonly row: Row
  readonly at: number
  readonly columns: readonly Column<Row>[]
  readonly open: boolean
  readonly tabbable: boolean
  readonly expanded?: (row: Row) => ReactNode
  readonly onToggle?: () => void
  readonly onAct?: () => void
  readonly onKey: (event: KeyboardEvent<HTMLElement>) => void
}

export function TableRow<Row>(props: TableRowProps<Row>) {
  const { row, at, columns, open, tabbable, expanded, onToggle, onAct, onKey } = props
  const texts = useTexts().table
  const clicked = (event: MouseEvent<HTMLElement>) => {
    // A link or button inside the row acts for itself, and whoever marks text does not mean the row.
    if ((event.target as HTMLElement).closest('a, button, input') || getSelection()?.isCollapsed === false) return
    onAct?.()
  }
  return (
    <>
      <tr data-at={at} aria-rowindex={at + 2} tabIndex={tabbable ? 0 : -1} data-acts={onAct !== undefined} className={styles.row} onClick={clicked} onKeyDown={onKey}>
        {expanded && (
          <td className={styles.expander}>
            <button type="button" tabIndex={-1} className={styles.toggle} aria-expanded={open} aria-label={open ? texts.collapse : texts.expand} onClick={onToggle}>
              {open ? <DownIcon size={14} /> : <UnfoldIcon size={14} />}
            </button>
          </td>
        )}
        {columns.map((column) => <Cell key={column.id} row={row} column={column} />)}
      </tr>
      {open && expanded && (
        <tr className={styles.detail}><td colSpan={columns.length + 1}>{expanded(row)}</td></tr>
      )}
    </>
  )
}

function Cell<Row>({ row, column }: { row: Row; column: Column<Row> }) {
  const value = column.value(row)
  const number = column.as !== undefined
  const title = number && typeof value === 'number' ? exactly(value, column.as!) : typeof value === 'string' ? value : undefined
  return (
    <td className={number ? `numbers ${styles.number}` : styles.text} title={column.cell ? undefined : title}>
      {column.cell ? column.cell(row) : column.bar ? <ShareBar value={typeof value === 'number' ? value : null} kind={column.bar} /> : cellText(row, column)}
    </td>
  )
}
