import type { ReactNode } from 'react'
import { useDeferredValue, useMemo, useState } from 'react'
import { count } from '../../lib/units'
import { useTexts } from '../../state/language'
import { usePhone } from '../../state/screen'
import { Body } from './Body'
import type { Column, Sort } from './column'
import styles from './DataTable.module.css'
import { Head } from './Head'
import { MOST_SCROLLED, type Served } from './parts'
import { SearchBox } from './SearchBox'
import { type Held, useRows } from './useRows'

export interface DataTableProps<Row> {
  /** What the table lists. */
  readonly label: string
  /** Keep rows and columns by `useMemo` or outside the component. Of a table that is served: those that are here. */
  readonly rows: readonly Row[]
  readonly columns: readonly Column<Row>[]
  readonly rowKey: (row: Row) => string | number
  readonly sort?: Sort
  readonly searchable?: boolean
  readonly placeholder?: string
  /** What opens below a row. */
  readonly expanded?: (row: Row) => ReactNode
  /** A click on a row, or Enter. */
  readonly onOpen?: (row: Row) => void
  /** Rows beyond this height scroll. */
  readonly height?: number
  /** At the right of the search box; told the rows that are found, in their order. */
  readonly tools?: ReactNode | ((rows: readonly Row[]) => ReactNode)
  /** Where the owner keeps what is sorted and searched for. */
  readonly held?: Held
  /** Where the server sorts and searches, and rows come as they are scrolled to. */
  readonly served?: Served<Row>
  /** Stands instead of the rows where there are none. */
  readonly empty?: ReactNode
}

/** Room at least for a column without a width. */
const FLEXIBLE = 180
const ON_PHONE = 150

/** Narrower where they can be, those that may wait at the end. */
function forPhone<Row>(columns: readonly Column<Row>[]): readonly Column<Row>[] {
  const narrow = columns.map((column) => (column.onPhone === undefined ? column : { ...column, width: column.onPhone }))
  return [...narrow.filter(({ late }) => !late), ...narrow.filter(({ late }) => late)]
}

/** A table of any length: only rows in view are drawn; sorts by a click on a column, searches, expands. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, rows, served, searchable = false, height = 480, tools } = props
  const held: Held | undefined = served ?? props.held
  const phone = usePhone()
  const columns = useMemo(() => (phone ? forPhone(props.columns) : props.columns), [phone, props.columns])
  const texts = useTexts().table
  const [typed, setTyped] = useState('')
  const query = held?.query ?? typed
  const ordered = useRows(rows, columns, { query: useDeferredValue(query), firstSort: props.sort ?? null, held, served: served !== undefined })
  const listed = served?.parts.length ?? ordered.rows.length
  // State and no ref: the rows are drawn once it is there.
  const [scroller, setScroller] = useState<HTMLDivElement | null>(null)
  const most = phone ? ON_PHONE : Infinity
  const width = columns.reduce((sum, column) => sum + (column.width ?? Math.min(column.least ?? FLEXIBLE, most)), 0)
  return (
    <div className={styles.whole}>
      {(searchable || tools !== undefined) && (
        <div className={styles.tools}>
          {searchable && <SearchBox value={query} onChange={held?.onQuery ?? setTyped} placeholder={props.placeholder ?? texts.search} />}
          <span className={`numbers ${styles.count}`} role="status">{texts.rows(count(listed), count(served?.total ?? rows.length))}</span>
          {typeof tools === 'function' ? tools(ordered.rows) : tools}
        </div>
      )}
      {/* Other rows, or the same in other order, are seen from their top. */}
      <div key={served && `${query} ${served.sort?.id} ${served.sort?.desc}`} ref={setScroller} className={styles.scroller} style={{ maxHeight: height }} tabIndex={0} role="region" aria-label={label}>
        <table className={styles.table} style={{ minWidth: width }} aria-label={label} aria-rowcount={(served?.total ?? ordered.rows.length) + 1}>
          <colgroup>
            {props.expanded && <col style={{ width: 36 }} />}
            {columns.map((column) => <col key={column.id} style={column.width === undefined ? {} : { width: column.width }} />)}
          </colgroup>
          <Head columns={columns} sort={ordered.sort} onSort={ordered.sortBy} expandable={props.expanded !== undefined} />
          <Body {...props} columns={columns} rows={ordered.rows} parts={served?.parts} scroller={scroller} />
        </table>
        {listed === 0 && <div className={styles.empty}>{query === '' ? (props.empty ?? texts.none) : texts.noneFor(query)}</div>}
      </div>
      {served && listed < served.total && <p className={styles.more}>{texts.most(count(MOST_SCROLLED))}</p>}
    </div>
  )
}
