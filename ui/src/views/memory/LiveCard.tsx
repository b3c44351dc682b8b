import { useCallback, useMemo } from 'react'
import type { Block, LiveBlocks } from '../../api/shapes'
import { Card } from '../../components/Card'
import { Chart } from '../../components/chart/Chart'
import type { ChartClick } from '../../components/chart/useEngine'
import type { Look } from '../../components/chart/look'
import { EmptyState } from '../../components/EmptyState'
import { Loaded } from '../../components/Loaded'
import type { Column } from '../../components/table/column'
import { DataTable } from '../../components/table/DataTable'
import { ownerTree } from '../../lib/memory'
import { bytes, count, exactly, time } from '../../lib/units'
import { useTexts } from '../../state/language'
import { useOpenSlice } from '../../state/slices'
import type { Texts } from '../../texts/catalogues'
import styles from './Memory.module.css'
import { treemapOption } from './treemapOption'
import { type MemoryChoice, useLive } from './useMemory'

/** The blocks of an instant: as areas, and as a table. */
export function LiveCard({ choice, at, peak }: { choice: MemoryChoice; at: number | null; peak: number }) {
  const { memory: texts } = useTexts()
  const live = useLive(choice, at)
  const blocks = live.data && texts.liveHint(texts.liveBlocks(live.data.total_rows, count(live.data.total_rows)), bytes(live.data.bytes))
  return (
    <Card title={<span title={exactly(at ?? peak, 'time')}>{texts.live(time(at ?? peak))}</span>} hint={blocks ?? ' '} evidence="memory_pressure">
      <Loaded query={live} height={420}>{(found) => <Live live={found} />}</Loaded>
    </Card>
  )
}

function Live({ live }: { live: LiveBlocks }) {
  const { memory: texts } = useTexts()
  const open = useOpenSlice()
  const columns = useMemo(() => ownerColumns(texts, live.bytes, live.owners.some(({ layout }) => layout !== null)), [texts, live])
  const rows = useMemo(() => live.owners.map((owner, at) => ({ ...owner, at })), [live])
  const tree = useMemo(() => ownerTree(live.owners, live.bytes, { unknown: texts.unknownOwner, others: texts.others }), [live, texts])
  const option = useCallback((look: Look) => treemapOption(tree, look, texts.treemap), [tree, texts])
  const clicked = ({ data }: ChartClick) => {
    const slice = (data as { slice?: number } | undefined)?.slice
    if (slice !== undefined) open(slice)
  }
  if (live.total_rows === 0) return <EmptyState what={texts.nothingLives} />
  return (
    <>
      <Chart label={texts.treemap} option={option} height={240} onClick={clicked}
        table={() => ({ columns: [texts.columns.op, texts.columns.size], rows: tree.map(({ name, value }) => [name, exactly(value, 'bytes')]) })} />
      <div className={styles.gap} />
      <DataTable label={texts.live(time(live.at_ns))} rows={rows} columns={columns} rowKey={(row) => row.at} height={370} searchable
        sort={{ id: 'size_bytes', desc: true }} onOpen={(row) => row.slice_id !== null && open(row.slice_id)} />
      {live.total_rows > live.owners.length && <p className={styles.note}>{texts.listedOnly(count(live.owners.length), count(live.total_rows))}</p>}
    </>
  )
}

function ownerColumns(texts: Texts['memory'], all: number | null, layouts: boolean): Column<Block>[] {
  const named = texts.columns
  return [
    { id: 'op', label: named.owner, value: (row) => ownerName(row) ?? texts.unknownOwner },
    ...(layouts ? [{ id: 'layout', label: named.layout, value: (row: Block) => row.layout, width: 150 }] : []),
    { id: 'size_bytes', label: named.size, as: 'bytes', value: (row) => row.size_bytes, width: 96 },
    { id: 'share', label: named.share, as: 'share', bar: 'compute', value: (row) => (all ? row.size_bytes / all : null), width: 130 },
    { id: 'start_ns', label: named.start, as: 'time', value: (row) => row.start_ns, cell: (row) => lifeEnd(row.start_ns, texts.before), width: 96 },
    { id: 'end_ns', label: named.end, as: 'time', value: (row) => row.end_ns, cell: (row) => lifeEnd(row.end_ns, texts.stays), width: 96 },
  ]
}

/** The operator that made a block, and what the block is called where that says more. */
export function ownerName({ op, name }: Pick<Block, 'op' | 'name'>): string | null {
  return op === null || op === name ? name : name === null ? op : `${op} · ${name}`
}

/** An end of a block's life; words where it lies outside the recording. */
export function lifeEnd(ns: number | null, outside: string) {
  return ns === null ? <em>{outside}</em> : <span title={exactly(ns, 'time')}>{time(ns)}</span>
}
