import { useMemo } from 'react'
import type { Source } from '../../api/shapes'
import { Card } from '../../components/Card'
import type { Column } from '../../components/table/column'
import { DataTable } from '../../components/table/DataTable'
import { useTexts } from '../../state/language'
import type { Texts } from '../../texts/catalogues'
import { SourceFacts } from './SourceFacts'

/** Each recording: how many events it has, and what became of them. */
export function SourcesCard({ sources }: { sources: readonly Source[] }) {
  const { files: texts } = useTexts()
  const columns = useMemo(() => sourceColumns(texts), [texts])
  return (
    <Card title={texts.sources} hint={texts.sourcesHint}>
      <DataTable label={texts.sources} rows={sources} columns={columns} rowKey={(row) => `${row.rank} ${row.source}`} searchable={sources.length > 8} expanded={(row) => <SourceFacts source={row} />} />
    </Card>
  )
}

function sourceColumns(texts: Texts['files']): Column<Source>[] {
  const named = texts.columns
  const dropped = ({ events }: Source) => events.read - events.kept
  return [
    { id: 'rank', label: named.rank, as: 'count', value: (row) => row.rank, width: 80 },
    { id: 'source', label: named.source, value: (row) => row.source },
    { id: 'format', label: named.format, value: (row) => row.format, width: 150 },
    { id: 'read', label: named.read, as: 'count', value: (row) => row.events.read, width: 96 },
    { id: 'kept', label: named.kept, as: 'count', value: (row) => row.events.kept, width: 96 },
    { id: 'dropped', label: named.dropped, as: 'count', value: dropped, width: 96 },
    { id: 'warnings', label: named.warnings, as: 'count', value: (row) => row.warnings.reduce((sum, each) => sum + each.count, 0), width: 104 },
  ]
}
