import type { OperatorRow } from '../../api/shapes'
import type { Column } from '../../components/table/column'
import type { Texts } from '../../texts/catalogues'
import { fullName, type Grouping, hasShapes, kindOf, shapesOf, type Side } from './model'
import { ShareBar } from '../../components/ShareBar'
import styles from './Operators.module.css'

const TYPED: readonly Grouping[] = ['name', 'full-name', 'kernel', 'shape']

/** Columns of a grouping; ids are those of the server. */
export function operatorColumns(texts: Texts['operators'], by: Grouping, side: Side, withKind: boolean): Column<OperatorRow>[] {
  const names = texts.columns
  const time = (id: TimeColumn, label: string, width = 92): Column<OperatorRow> => ({ id, label, as: 'time', width, value: (row) => row[id] })
  return [
    { id: 'name', label: texts.groupings[by], least: 240, value: (row) => row.name, cell: (row) => <Name row={row} by={by} /> },
    ...(TYPED.includes(by) ? [{ id: 'op_type', label: names.type, width: 132, late: true, value: (row: OperatorRow) => row.op_type }] : []),
    ...(withKind ? [{ id: 'device_kind', label: names.processor, width: 124, late: true, value: (row: OperatorRow) => texts.processor(row.device_kind) }] : []),
    { id: 'share', label: names.share, as: 'share', width: 148, onPhone: 84, value: (row) => row.share, cell: (row) => <ShareBar value={row.share} kind={kindOf(row, side)} /> },
    time('self_ns', names.self, 100),
    time('total_ns', names.total, 96),
    { id: 'count', label: names.count, as: 'count', width: 80, value: (row) => row.count },
    time('mean_ns', names.mean),
    time('p50_ns', 'p50'),
    time('p90_ns', 'p90'),
    time('min_ns', names.min),
    time('max_ns', names.max),
  ]
}

type TimeColumn = 'self_ns' | 'total_ns' | 'mean_ns' | 'p50_ns' | 'p90_ns' | 'min_ns' | 'max_ns'

/** Names end in what tells them apart; shapes stand below the operator's name. */
function Name({ row, by }: { row: OperatorRow; by: Grouping }) {
  return (
    <span className={styles.name} title={fullName(row)}>
      <span>{row.name}</span>
      {by === 'shape' && hasShapes(row) && <small>{shapesOf(row)}</small>}
    </span>
  )
}
