import { useMemo } from 'react'
import type { OperatorRow } from '../../api/shapes'
import { Loaded } from '../../components/Loaded'
import { DataTable } from '../../components/table/DataTable'
import { useTexts } from '../../state/language'
import { MOST_ROWS, useOperators } from '../../state/operators'
import { operatorColumns } from './columns'
import { rowKey, type Tab } from './model'
import { FIRST_SORT, useChosen } from './view'

const ROW = 37
const MOST_SHOWN = 10
/** Letters of a name that the server takes. */
const LONGEST = 900

/** The operators of a type, below its row. */
export function OperatorsOfType({ run, tab, type }: { run: string; tab: Tab; type: OperatorRow }) {
  const { operators: texts } = useTexts()
  const [, choose] = useChosen()
  const filter = `${type.op_type === null ? 'name' : 'op_type'}=${type.name.slice(0, LONGEST)}`
  const all = useOperators(run, { on: tab.side, by: 'name', kind: tab.kind, filter, limit: MOST_ROWS })
  const columns = useMemo(() => operatorColumns(texts, 'name', tab.side, false).filter(({ id }) => id !== 'op_type'), [texts, tab.side])
  return (
    <Loaded query={all} height={ROW * 2}>
      {(found) => {
        const rows = found.rows.filter((row) => isOfType(row, type))
        return (
          <DataTable
            label={texts.ofType(type.name)}
            rows={rows}
            columns={columns}
            rowKey={rowKey}
            sort={FIRST_SORT}
            onOpen={(row) => choose(row, 'name')}
            height={ROW * (Math.min(rows.length, MOST_SHOWN) + 1) + 16}
          />
        )
      }}
    </Loaded>
  )
}

/** What has no type is a type of its own, by its name. */
function isOfType(row: OperatorRow, type: OperatorRow): boolean {
  return (row.op_type ?? row.name) === type.name && row.device_kind === type.device_kind
}
