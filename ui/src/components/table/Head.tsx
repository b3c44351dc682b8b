import { useTexts } from '../../state/language'
import { DownIcon, SortIcon, UpIcon } from '../icons'
import type { Column, Sort } from './column'
import styles from './DataTable.module.css'

interface HeadProps<Row> {
  readonly columns: readonly Column<Row>[]
  readonly sort: Sort | null
  readonly onSort: (column: Column<Row>) => void
  readonly expandable: boolean
}

export function Head<Row>({ columns, sort, onSort, expandable }: HeadProps<Row>) {
  const { table } = useTexts()
  return (
    <thead>
      <tr aria-rowindex={1}>
        {expandable && <th className={styles.expander}><span className={styles.unseen}>{table.expand}</span></th>}
        {columns.map((column) => {
          const sorted = sort?.id === column.id ? (sort.desc ? 'descending' : 'ascending') : 'none'
          const number = column.as !== undefined
          if (column.unsortable) return <th key={column.id} scope="col" className={number ? styles.number : undefined}>{column.label}</th>
          return (
            <th key={column.id} scope="col" aria-sort={sorted} className={number ? styles.number : undefined}>
              <button type="button" className={styles.sorter} data-sorted={sorted !== 'none'} onClick={() => onSort(column)} title={table.sortBy(column.label)}>
                <span>{column.label}</span>
                <Direction sorted={sorted} />
              </button>
            </th>
          )
        })}
      </tr>
    </thead>
  )
}

function Direction({ sorted }: { sorted: 'ascending' | 'descending' | 'none' }) {
  if (sorted === 'ascending') return <UpIcon size={14} />
  return sorted === 'descending' ? <DownIcon size={14} /> : <SortIcon size={14} />
}
