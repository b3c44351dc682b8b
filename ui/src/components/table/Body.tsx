import { useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import type { Column } from './column'
import styles from './DataTable.module.css'
import { TableRow } from './TableRow'

interface BodyProps<Row> {
  readonly rows: readonly Row[]
  readonly columns: readonly Column<Row>[]
  readonly rowKey: (row: Row) => string | number
  readonly expanded?: (row: Row) => ReactNode
  readonly onOpen?: (row: Row) => void
  readonly scroller: HTMLDivElement | null
}

const ROW_HEIGHT = 37
const MOVES: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity }

/** Rows in view between two spacers, each with what it opens in a body of its own. */
export function Body<Row>({ rows, columns, rowKey, expanded, onOpen, scroller }: BodyProps<Row>) {
  const [opened, setOpened] = useState<ReadonlySet<string | number>>(new Set())
  const [active, setActive] = useState(0)
  const wantsFocus = useRef(false)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller,
    estimateSize: () => ROW_HEIGHT,
    getItemKey: (at) => rowKey(rows[at]!),
    overscan: 12,
    initialRect: { width: 800, height: 600 },
  })
  const shown = virtual.getVirtualItems()

  useEffect(() => {
    if (!wantsFocus.current) return
    const row = scroller?.querySelector<HTMLElement>(`tr[data-at="${active}"]`)
    if (row) {
      wantsFocus.current = false
      row.focus({ preventScroll: true })
    }
  })

  const toggle = (key: string | number) => {
    const next = new Set(opened)
    if (!next.delete(key)) next.add(key)
    setOpened(next)
  }
  const act = (row: Row) => (onOpen ? onOpen(row) : toggle(rowKey(row)))
  const move = (event: KeyboardEvent<HTMLElement>, at: number) => {
    if (event.target !== event.currentTarget) return
    const by = MOVES[event.key]
    if (by !== undefined) {
      event.preventDefault()
      const next = Math.max(0, Math.min(rows.length - 1, at + by))
      wantsFocus.current = true
      setActive(next)
      virtual.scrollToIndex(next)
    } else if (event.key === 'Enter' && (onOpen || expanded)) act(rows[at]!)
    else if (event.key === ' ' && expanded) {
      event.preventDefault()
      toggle(rowKey(rows[at]!))
    }
  }
  const before = shown[0]?.start ?? 0
  const after = virtual.getTotalSize() - (shown.at(-1)?.end ?? 0)
  const span = columns.length + (expanded ? 1 : 0)
  return (
    <>
      {before > 0 && <Spacer height={before} span={span} />}
      {shown.map(({ index, key }) => (
        <tbody key={key} data-index={index} ref={virtual.measureElement} className={styles.body}>
          <TableRow
            row={rows[index]!} at={index} columns={columns} tabbable={index === active}
            open={opened.has(rowKey(rows[index]!))} {...(expanded ? { expanded, onToggle: () => toggle(rowKey(rows[index]!)) } : {})}
            {...(onOpen || expanded ? { onAct: () => act(rows[index]!) } : {})} onKey={(event) => move(event, index)}
          />
        </tbody>
      ))}
      {after > 0 && <Spacer height={after} span={span} />}
    </>
  )
}

function Spacer({ height, span }: { height: number; span: number }) {
  return <tbody aria-hidden="true"><tr><td colSpan={span} style={{ height, padding: 0, border: 0 }} /></tr></tbody>
}
