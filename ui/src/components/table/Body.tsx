import { useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, type ReactNode, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { Column } from './column'
import styles from './DataTable.module.css'
import type { Parts } from './parts'
import { TableRow } from './TableRow'

interface BodyProps<Row> {
  /** Rows that are here; all of them, but where `parts` fetches them. */
  readonly rows: readonly Row[]
  readonly parts?: Parts<Row> | undefined
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
export function Body<Row>({ rows, parts, columns, rowKey, expanded, onOpen, scroller }: BodyProps<Row>) {
  const length = parts?.length ?? rows.length
  const rowAt = (at: number): Row | undefined => (parts ? parts.rowAt(at) : rows[at])
  /** Rows that were opened, and whether they are now. */
  const [opened, setOpened] = useState<ReadonlyMap<string | number, boolean>>(new Map())
  const [active, setActive] = useState(0)
  const [height, setHeight] = useState(ROW_HEIGHT)
  const wantsFocus = useRef(false)
  // A new function would have all rows laid out anew on every scroll.
  const keyAt = useCallback((at: number) => rowKey(rows[at]!), [rows, rowKey])
  const virtual = useVirtualizer({
    count: length,
    getScrollElement: () => scroller,
    estimateSize: () => height,
    ...(parts ? { initialOffset: parts.first * ROW_HEIGHT } : { getItemKey: keyAt }),
    overscan: 12,
    // The last row stands below the head, which covers as much of the place.
    scrollPaddingEnd: ROW_HEIGHT,
    initialRect: { width: 800, height: 600 },
  })
  const shown = virtual.getVirtualItems()

  // Rows of long tables are all as high as the first one drawn, but for what they open.
  useLayoutEffect(() => {
    const drawn = scroller?.querySelector('tr[data-at]')?.getBoundingClientRect().height
    if (length > MOST_MEASURED && drawn && Math.abs(drawn - height) >= 0.5) {
      setHeight(drawn)
      virtual.measure()
    }
  }, [scroller, rows, length, height, virtual])

  useEffect(() => {
    if (!wantsFocus.current) return
    const row = scroller?.querySelector<HTMLElement>(`tr[data-at="${active}"]`)
    if (row) {
      wantsFocus.current = false
      row.focus({ preventScroll: true })
    }
  })

  const inView = virtual.range
  const onView = parts?.onView
  useEffect(() => {
    if (inView) onView?.(inView.startIndex, inView.endIndex)
  }, [inView?.startIndex, inView?.endIndex, onView])

  const toggle = (key: string | number) => {
    setOpened(new Map(opened).set(key, !opened.get(key)))
  }
  const act = (row: Row) => (onOpen ? onOpen(row) : toggle(rowKey(row)))
  const move = (event: KeyboardEvent<HTMLElement>, at: number) => {
    if (event.target !== event.currentTarget) return
    const by = MOVES[event.key]
    if (by !== undefined) {
      event.preventDefault()
      const next = Math.max(0, Math.min(length - 1, at + by))
      wantsFocus.current = true
      setActive(next)
      virtual.scrollToIndex(next)
      return
    }
    const row = rowAt(at)
    if (row === undefined) return
    if (event.key === 'Enter' && (onOpen || expanded)) act(row)
    else if (event.key === ' ' && expanded) {
      event.preventDefault()
      toggle(rowKey(row))
    }
  }
  const before = shown[0]?.start ?? 0
  const after = virtual.getTotalSize() - (shown.at(-1)?.end ?? 0)
  const span = columns.length + (expanded ? 1 : 0)
  return (
    <>
      {before > 0 && <Spacer height={before} span={span} />}
      {shown.map(({ index, key }) => {
        const row = rowAt(index)
        if (row === undefined) return <Awaited key={key} at={index} span={span} tabbable={index === active} onKey={(event) => move(event, index)} />
        const own = rowKey(row)
        return (
          <tbody key={key} data-index={index} ref={length <= MOST_MEASURED || opened.has(own) ? virtual.measureElement : null} className={styles.body}>
            <TableRow
              row={row} at={index} columns={columns} tabbable={index === active}
              open={opened.get(own) ?? false} {...(expanded ? { expanded, onToggle: () => toggle(own) } : {})}
              {...(onOpen || expanded ? { onAct: () => act(row) } : {})} onKey={(event) => move(event, index)}
            />
          </tbody>
        )
      })}
      {after > 0 && <Spacer height={after} span={span} />}
    </>
  )
}

interface AwaitedProps {
  readonly at: number
  readonly span: number
  readonly tabbable: boolean
  readonly onKey: (event: KeyboardEvent<HTMLElement>) => void
}

/** Stands where a row will be that is not here yet. */
function Awaited({ at, span, tabbable, onKey }: AwaitedProps) {
  return (
    <tbody>
      <tr data-at={at} aria-rowindex={at + 2} aria-busy="true" tabIndex={tabbable ? 0 : -1} className={styles.row} onKeyDown={onKey}>
        <td colSpan={span}><span className={styles.awaited} /></td>
      </tr>
    </tbody>
  )
}

function Spacer({ height, span }: { height: number; span: number }) {
  return <tbody aria-hidden="true"><tr><td colSpan={span} style={{ height, padding: 0, border: 0 }} /></tr></tbody>
}
