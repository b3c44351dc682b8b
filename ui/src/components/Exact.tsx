import { exactly, type Quantity, readable } from '../lib/units'

export interface ExactProps {
  readonly value: number | null | undefined
  readonly as: Quantity
  readonly className?: string
}

/** A number as read, with all its digits as title and for whoever copies it. */
export function Exact({ value, as, className }: ExactProps) {
  return (
    <data value={value ?? ''} title={value == null ? undefined : exactly(value, as)} className={`numbers ${className ?? ''}`}>
      {readable(value, as)}
    </data>
  )
}
