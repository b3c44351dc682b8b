import { api } from '../api/client'
import type { Operators } from '../api/shapes'
import { Card } from '../components/Card'
import { EmptyState } from '../components/EmptyState'
import { Exact } from '../components/Exact'
import { Loaded } from '../components/Loaded'
import { ShareBar } from '../components/ShareBar'
import { count } from '../lib/units'
import { useQueryChoices } from '../state/address'
import { useTexts } from '../state/language'
import { OPERATORS } from './asked'
import styles from './Report.module.css'

/** The operators that take most time, by type and by name. */
export function OperatorsSection({ run }: { run: string }) {
  const { saved: texts } = useTexts()
  return (
    <>
      <TopOperators run={run} by="op-type" title={texts.byType} />
      <TopOperators run={run} by="name" title={texts.byName} />
    </>
  )
}

function TopOperators({ run, by, title }: { run: string; by: 'op-type' | 'name'; title: string }) {
  const { saved: texts, overview: { noOperators } } = useTexts()
  const query = api.useQuery('get', '/api/runs/{run}/op', { params: { path: { run }, query: { ...useQueryChoices(), by, limit: OPERATORS } } }, {
    select: (answer) => answer as Operators, // the route also answers Arrow and CSV, where asked for
  })
  const found = query.data
  const hint = found && found.rows.length > 0 ? `${texts.on[found.on]}: ${texts.listed(count(found.rows.length), count(found.total_rows))}` : undefined
  return (
    <Card title={title} hint={hint}>
      <Loaded query={query}>{({ rows }) => (rows.length === 0 ? <EmptyState what={noOperators} /> : <Table rows={rows} label={title} />)}</Loaded>
    </Card>
  )
}

function Table({ rows, label }: { rows: Operators['rows']; label: string }) {
  const { saved: texts } = useTexts()
  return (
    <table className={`numbers ${styles.table}`} aria-label={label}>
      <thead><tr>{[texts.name, texts.count, texts.total, texts.own, texts.share].map((name) => <th key={name} scope="col">{name}</th>)}</tr></thead>
      <tbody>
        {rows.map((row, at) => (
          <tr key={at}>
            <td>{row.name}</td>
            <td>{count(row.count)}</td>
            <td><Exact value={row.total_ns} as="time" /></td>
            <td><Exact value={row.self_ns} as="time" /></td>
            <td className={styles.share}><ShareBar value={row.share} /></td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
