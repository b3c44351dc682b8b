import type { ReactNode } from 'react'
import type { Kind } from '../../lib/colours'
import { type Quantity, readable } from '../../lib/units'

export interface Column<Row> {
  /** Its name in addresses and for the server. */
  readonly id: string
  readonly label: string
  /** What rows are sorted by, and shown where there is no `cell`. */
  readonly value: (row: Row) => string | number | boolean | null | undefined
  /** Numbers: their unit. They stand at the right, exact on hover. */
  readonly as?: Quantity
  readonly cell?: (row: Row) => ReactNode
  /** Draws the value, a fraction, as a bar in this colour too. */
  readonly bar?: Kind
  /** Width in pixels; columns without share what is left. */
  readonly width?: number
  /** Its width on a phone, where names and their first numbers have to fit. */
  readonly onPhone?: number
  /** On a phone it stands behind the others. */
  readonly late?: boolean
  /** Room at least for a column without a width. */
  readonly least?: number
  readonly unsortable?: boolean
}

export interface Sort {
  readonly id: string
  readonly desc: boolean
}

/** What search looks through: all texts of the row. */
export function rowText<Row>(row: Row, columns: readonly Column<Row>[]): string {
  return columns.filter((column) => column.as === undefined).map((column) => column.value(row) ?? '').join(' ')
}

export function cellText<Row>(row: Row, column: Column<Row>): string {
  const value = column.value(row)
  if (column.as !== undefined) return readable(value as number | null | undefined, column.as)
  return value == null ? '–' : String(value)
}
