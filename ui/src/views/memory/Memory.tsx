import { SegmentedControl, Select } from '@mantine/core'
import type { MemoryCurve } from '../../api/shapes'
import { Card } from '../../components/Card'
import { EmptyState } from '../../components/EmptyState'
import { Stack } from '../../components/Headline'
import { Loaded } from '../../components/Loaded'
import type { StepSpan } from '../../lib/memory'
import { useSelection } from '../../state/address'
import { useTexts } from '../../state/language'
import { howToRecord } from '../../lib/recording'
import { entryOf, useWholeReport } from '../../state/report'
import type { PageProps } from '../pages'
import { AllocationsCard } from './AllocationsCard'
import { CountersCard } from './CountersCard'
import { CurveCard } from './CurveCard'
import { LiveCard } from './LiveCard'
import styles from './Memory.module.css'
import { MemoryHeadline } from './MemoryHeadline'
import { type MemoryChoice, useCurve, useInstant, useMemoryChoice } from './useMemory'

/** What fills the memory, and when. */
export default function Memory({ run }: PageProps) {
  const { choice, choose, fullest } = useMemoryChoice(run)
  return (
    <Loaded query={fullest} height={480}>
      {({ devices, device }) => (
        <>
          {devices.length > 1 && <DevicePicker devices={devices} shown={choice.device ?? device} onChoose={choose} />}
          <OfDevice choice={choice} />
        </>
      )}
    </Loaded>
  )
}

function OfDevice({ choice }: { choice: MemoryChoice }) {
  const curve = useCurve(choice)
  const { rank } = useSelection()
  const { data: report } = useWholeReport(choice.run)
  const how = howToRecord(report, 'memory')
  return <Loaded query={curve} height={480}>{(known) => <Shown curve={known} choice={choice} steps={report ? (entryOf(report, rank)?.steps ?? []) : []} how={how} framework={report?.run.framework} />}</Loaded>
}

interface ShownProps {
  readonly curve: MemoryCurve
  readonly choice: MemoryChoice
  readonly steps: readonly StepSpan[]
  readonly how: string | undefined
  readonly framework: string | null | undefined
}

function Shown({ curve, choice, steps, how, framework }: ShownProps) {
  const { memory: texts } = useTexts()
  const [at, setAt] = useInstant(curve)
  const record = RECORD[framework ?? '']
  if (curve.peak_at_ns === null && curve.counters.length === 0) return <Card title={texts.curve}><EmptyState what={texts.none} why={texts.noneWhy} code={how ?? record} /></Card>
  if (curve.peak_at_ns === null) {
    return (
      <Stack>
        <MemoryHeadline curve={curve} choice={choice} steps={steps} />
        <CountersCard curve={curve} />
        <Card title={texts.allocations}><EmptyState what={texts.noBlocks} why={texts.noBlocksWhy} code={how ?? record} /></Card>
      </Stack>
    )
  }
  return (
    <Stack>
      <MemoryHeadline curve={curve} choice={choice} steps={steps} />
      <CurveCard key={JSON.stringify([curve.rank, curve.device, curve.range])} curve={curve} steps={steps} at={at ?? curve.peak_at_ns} onAt={setAt} />
      <LiveCard choice={choice} at={at} peak={curve.peak_at_ns} />
      <AllocationsCard choice={choice} />
      <CountersCard curve={curve} />
    </Stack>
  )
}

/** Records blocks, and not totals alone, by framework. */
const RECORD: Record<string, string> = {
  pytorch: 'laptime.Profiler("runs/mine", profile_memory=True)',
  megengine: 'laptime.Profiler("runs/mine", formats="memory_flow.svg")',
  mindspore: 'mindspore.Profiler(profile_memory=True)',
}

/** More names than that do not fit beside each other. */
const MOST_SIDE_BY_SIDE = 5

function DevicePicker({ devices, shown, onChoose }: { devices: readonly (string | null)[]; shown: string | null; onChoose: (device: string) => void }) {
  const { memory: texts } = useTexts()
  const named = devices.filter((device) => device !== null)
  return (
    <div className={styles.picker}>
      {named.length <= MOST_SIDE_BY_SIDE
        ? <SegmentedControl size="sm" data={named} value={shown ?? ''} onChange={onChoose} aria-label={texts.device} />
        : <Select size="sm" data={named} value={shown} allowDeselect={false} onChange={(chosen) => chosen !== null && onChoose(chosen)} aria-label={texts.device} />}
    </div>
  )
}
