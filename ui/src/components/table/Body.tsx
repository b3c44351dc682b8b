import { useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, type ReactNode, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { Column } from './column'
import styles from './DataTable.module.css'
import { TableRow } from './TableRow'

interface BodyProps<Row> {
  readonly rows: readonly Row[]
  /** How many rows there are before them. */
  readonly offset: number
  readonly columns: readonly Column<Row>[]
  readonly rowKey: (row: Row) => string | number
  readonly expanded?: (row: Row) => ReactNode
  readonly onOpen?: (row: Row) => void
  readonly scroller: HTMLDivElement | null
}

const ROW_HEIGHT = 37
/** Up to here each row may have a height of its own; each measured height lays out all rows anew. */
const MOST_MEASURED = 2000
const MOVES: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity }

/** Rows in view between two spacers, each with what it opens in a body of its own. */
export function Body<Row>({ rows, offset, columns, rowKey, expanded, onOpen, scroller }: BodyProps<Row>) {
  /** Rows that were opened, and whether they are now. */
  const [opened, setOpened] = useState<ReadonlyMap<string | number, boolean>>(new Map())
  const [active, setActive] = useState(0)
  const [height, setHeight] = useState(ROW_HEIGHT)
  const wantsFocus = useRef(false)
  // A new function would have all rows laid out anew on every scroll.
  const keyAt = useCallback((at: number) => rowKey(rows[at]!), [rows, rowKey])
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller,
    estimateSize: () => height,
    getItemKey: keyAt,
    overscan: 12,
    initialRect: { width: 800, height: 600 },
  })
  const shown = virtual.getVirtualItems()

  // Rows of long tables are all as high as the first one drawn, but for what they open.
  useLayoutEffect(() => {
    const drawn = scroller?.querySelector('tr[data-at]')?.getBoundingClientRect().height
    if (rows.length > MOST_MEASURED && drawn && Math.abs(drawn - height) >= 0.5) {
      setHeight(drawn)
      virtual.measure()
    }
  }, [scroller, rows, height, virtual])

  useEffect(() => {
    if (!wantsFocus.current) return
    const row = scroller?.querySelector<HTMLElement>(`tr[data-at="${active}"]`)
    if (row) {
      wantsFocus.current = false
      row.focus({ preventScroll: true })
    }
  })

  const toggle = (key: string | number) => {
    setOpened(new Map(opened).set(key, !opened.get(key)))
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
        <tbody key={key} data-index={index} ref={rows.length <= MOST_MEASURED || opened.has(key as string | number) ? virtual.measureElement : null} className={styles.body}>
          <TableRow
            row={rows[index]!} at={index} offset={offset} columns={columns} tabbable={index === active}
            open={opened.get(rowKey(rows[index]!)) ?? false} {...(expanded ? { expanded, onToggle: () => toggle(rowKey(rows[index]!)) } : {})}
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
