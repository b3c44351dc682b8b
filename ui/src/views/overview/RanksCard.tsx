import { useMemo } from 'react'
import type { RankReport } from '../../api/shapes'
import { Card } from '../../components/Card'
import type { Column } from '../../components/table/column'
import { DataTable } from '../../components/table/DataTable'
import { share, time } from '../../lib/units'
import { useParams } from '../../state/address'
import { useTexts } from '../../state/language'
import type { Texts } from '../../texts/catalogues'
import styles from './Overview.module.css'

/** Ranks nearer than this take the same time. */
const EVEN = 0.02

interface Row {
  readonly key: number
  readonly rank: number | null
  readonly name: string
  readonly mean_ns: number | null
  readonly ofSlowest: number | null
  readonly communication: number | null
  readonly data: number | null
}

/** The ranks side by side; a row chooses its rank. */
export function RanksCard({ ranks }: { ranks: readonly RankReport[] }) {
  const { overview: texts, terms } = useTexts()
  const [, change] = useParams()
  const rows = useMemo(() => rankRows(ranks), [ranks])
  const columns = useMemo<readonly Column<Row>[]>(
    () => [
      { id: 'rank', label: texts.rank, value: (row) => row.rank ?? row.name, cell: (row) => row.rank ?? row.name, width: 90 },
      { id: 'mean_ns', label: texts.stepTime, value: (row) => row.mean_ns, as: 'time', width: 100 },
      { id: 'communication', label: terms.communication.name, value: (row) => row.communication, as: 'share' },
      { id: 'data', label: texts.waitOfRank, value: (row) => row.data, as: 'share' },
    ],
    [texts, terms],
  )
  return (
    <Card title={texts.ranks} evidence="unbalanced_ranks">
      <p className={styles.says}>{spreadWords(rows, texts)}</p>
      <DataTable label={texts.ranks} rows={rows} columns={columns} rowKey={(row) => row.key} height={260} sort={{ id: 'mean_ns', desc: true }}
        onOpen={(row) => row.rank !== null && change({ rank: String(row.rank), device: null })} />
    </Card>
  )
}

function rankRows(ranks: readonly RankReport[]): Row[] {
  const slowest = Math.max(0, ...ranks.map((rank) => rank.step_summary?.mean_ns ?? 0))
  return ranks.map(({ rank, source, step_summary: summary }, key) => {
    const budget = summary?.budget ?? null
    const shareOf = (ns: number | null | undefined) => (budget === null || ns == null || budget.total_ns === 0 ? null : ns / budget.total_ns)
    return {
      key, rank, name: source, mean_ns: summary?.mean_ns ?? null,
      ofSlowest: summary && slowest > 0 ? summary.mean_ns / slowest : null,
      communication: shareOf(budget?.communication_exposed_ns), data: shareOf(budget?.idle_data_wait_ns),
    }
  })
}

function spreadWords(rows: readonly Row[], texts: Texts['overview']): string | null {
  const timed = rows.filter((row) => row.mean_ns !== null).toSorted((a, b) => b.mean_ns! - a.mean_ns!)
  const [slow, fast] = [timed[0], timed.at(-1)]
  if (!slow || !fast || slow === fast || fast.mean_ns === 0) return null
  const apart = slow.mean_ns! / fast.mean_ns! - 1
  if (apart < EVEN) return texts.ranksEven(share(Math.max(apart, 0.001)))
  const name = (row: Row) => String(row.rank ?? row.name)
  return texts.ranksSpread(name(slow), time(slow.mean_ns), name(fast), time(fast.mean_ns), share(apart))
}
