import { useMemo } from 'react'
import type { Collective } from '../../api/shapes'
import { Card } from '../../components/Card'
import { EmptyState } from '../../components/EmptyState'
import type { Column } from '../../components/table/column'
import { DataTable } from '../../components/table/DataTable'
import { shareOf } from '../../lib/utilisation'
import { useTexts } from '../../state/language'
import type { Texts } from '../../texts/catalogues'

/** Each collective by name: how long, and how much of it nothing hides. */
export function CollectivesCard({ collectives }: { collectives: readonly Collective[] }) {
  const { utilisation: texts } = useTexts()
  const columns = useMemo(() => collectiveColumns(texts), [texts])
  const onHost = collectives.some(({ on }) => on === 'host')
  if (collectives.length === 0) return <Card title={texts.collectives}><EmptyState what={texts.noCollectives} why={texts.noCollectivesWhy} /></Card>
  return (
    <Card title={texts.collectives} hint={onHost ? texts.onHost : texts.collectivesHint} evidence="exposed_communication serial_communication unbalanced_ranks">
      <DataTable label={texts.collectives} rows={collectives} columns={columns} rowKey={(row) => `${row.on} ${row.name}`} searchable={collectives.length > 8} placeholder={texts.searchCollectives} sort={{ id: 'total_ns', desc: true }} />
    </Card>
  )
}

function collectiveColumns(texts: Texts['utilisation']): Column<Collective>[] {
  const named = texts.columns
  return [
    { id: 'name', label: named.name, value: (row) => row.name },
    { id: 'count', label: named.count, as: 'count', value: (row) => row.count, width: 88 },
    { id: 'total_ns', label: named.total, as: 'time', value: (row) => row.total_ns, width: 104 },
    { id: 'mean_ns', label: named.mean, as: 'time', value: (row) => (row.count > 0 ? row.total_ns / row.count : null), width: 104 },
    { id: 'exposed_ns', label: named.exposed, as: 'time', value: (row) => row.exposed_ns, width: 104 },
    { id: 'exposed_share', label: named.exposedShare, as: 'share', bar: 'communication', value: (row) => shareOf(row.exposed_ns, row.total_ns), width: 160 },
  ]
}
