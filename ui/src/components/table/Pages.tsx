import { Button } from '@mantine/core'
import { count } from '../../lib/units'
import { useTexts } from '../../state/language'
import type { Sort } from './column'
import styles from './DataTable.module.css'

/** Sorting, searching and paging on the server. */
export interface Served {
  readonly total: number
  readonly offset: number
  readonly limit: number
  readonly onOffset: (offset: number) => void
  readonly sort: Sort | null
  readonly onSort: (sort: Sort) => void
  readonly query?: string
  readonly onQuery?: (query: string) => void
}

export function Pages({ served, shown }: { served: Served; shown: number }) {
  const texts = useTexts().table
  const { total, offset, limit, onOffset } = served
  if (total <= limit && offset === 0) return null
  return (
    <div className={`numbers ${styles.pages}`}>
      <span>{texts.page(count(Math.min(offset + 1, total)), count(offset + shown), count(total))}</span>
      <Button size="xs" variant="default" disabled={offset === 0} onClick={() => onOffset(Math.max(0, offset - limit))}>{texts.before}</Button>
      <Button size="xs" variant="default" disabled={offset + shown >= total} onClick={() => onOffset(offset + limit)}>{texts.next}</Button>
    </div>
  )
}
