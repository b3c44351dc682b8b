import { SegmentedControl } from '@mantine/core'
import type { OperatorRow, Operators } from '../../api/shapes'
import { Card } from '../../components/Card'
import { EmptyState } from '../../components/EmptyState'
import { Answer } from '../../components/Headline'
import { Loaded } from '../../components/Loaded'
import { count, share, time } from '../../lib/units'
import { useParam } from '../../state/address'
import { useTexts } from '../../state/language'
import { MOST_ROWS, useOperators } from '../../state/operators'
import { groupingsOf } from './Choices'
import { countOf, type Grouping, ranked, type Ranked, spoken, type Tab, totalOf, wholeOf } from './model'
import { NotTold } from './NotTold'
import styles from './Operators.module.css'
import { OperatorTable } from './OperatorTable'
import { Pie } from './Pie'
import { Ranking } from './Ranking'
import { useChosen, useGrouping } from './view'

interface TabViewProps {
  readonly run: string
  readonly tab: Tab
  /** Its operators by type; where there are too many, those that take most. */
  readonly types: Operators
}

/** A side, or one kind of its processors: in words, as a picture, and all rows. */
export function TabView({ run, tab, types }: TabViewProps) {
  const [by] = useGrouping(groupingsOf(tab))
  if (by === 'op-type') return <Found run={run} tab={tab} by={by} found={types} whole={wholeTime(types, types, tab)} />
  return <Grouped run={run} tab={tab} types={types} by={by} />
}

/** Grouped in another way, which has to be asked for. */
function Grouped({ run, tab, types, by }: TabViewProps & { by: Grouping }) {
  const table = useOperators(run, { on: tab.side, by, kind: tab.kind, limit: MOST_ROWS })
  return <Loaded query={table} height={480}>{(found) => <Found run={run} tab={tab} by={by} found={found} whole={wholeTime(found, types, tab)} />}</Loaded>
}

/** However operators are grouped, their own times make up the same whole. */
function wholeTime(found: Operators, types: Operators, { kind }: Tab): number {
  if (found.rows.length >= found.total_rows) return totalOf(found.rows)
  return kind === null ? wholeOf(types) : totalOf(types.rows)
}

const UNTOLD: Partial<Record<Grouping, string>> = { module: '[no module]', source: '[no call stack]' }

interface FoundProps {
  readonly run: string
  readonly tab: Tab
  readonly by: Grouping
  readonly found: Operators
  readonly whole: number
}

function Found({ run, tab, by, found, whole }: FoundProps) {
  const { operators: texts } = useTexts()
  const entries = ranked(found.rows, whole, found.total_rows)
  if (found.rows.length > 0 && found.rows.every((row) => row.name === UNTOLD[by])) return <NotTold run={run} by={by} />
  if (found.rows.length === 0) return <Card title={texts.groupings[by]}><EmptyState what={texts.noneHere} /></Card>
  return (
    <>
      <Headline entries={entries} found={found} by={by} tab={tab} />
      <Picture entries={entries} tab={tab} by={by} />
      <Card title={texts.tableTitle(by)} hint={tab.kind === null ? texts.tableHint[tab.side] : texts.shareHint} evidence="operators kernels">
        <OperatorTable run={run} tab={tab} by={by} found={found} />
      </Card>
    </>
  )
}

function Headline({ entries, found, by, tab }: { entries: readonly Ranked[]; found: Operators; by: Grouping; tab: Tab }) {
  const { operators: texts } = useTexts()
  const [first] = entries
  if (!first?.row) return <Answer>{texts.noTimes}</Answer>
  const most = countOf(0.8, entries)
  const { row } = first
  return (
    <Answer title={row.name}>
      {texts.headline(tab.side, spoken(row.name), share(first.share), time(row.self_ns), row.count === null ? null : count(row.count))}
      {most !== null && found.total_rows > 3 && ` ${texts.most(most, count(found.total_rows), by)}`}
    </Answer>
  )
}

function Picture({ entries, tab, by }: { entries: readonly Ranked[]; tab: Tab; by: Grouping }) {
  const { operators: texts } = useTexts()
  const [chart, setChart] = useParam('chart')
  const [, choose] = useChosen()
  const open = (row: OperatorRow) => choose(row, by)
  if (entries.length === 0) return null
  const label = texts.pictureTitle(by)
  const switched = (
    <SegmentedControl size="xs" aria-label={texts.chart} data={[{ value: 'bar', label: texts.bars }, { value: 'pie', label: texts.pie }]} value={chart === 'pie' ? 'pie' : 'bar'} onChange={(chosen) => setChart(chosen === 'pie' ? 'pie' : null)} />
  )
  return (
    <Card title={label} hint={texts.pictureHint} actions={switched} className={styles.picture ?? ''}>
      {chart === 'pie' ? <Pie entries={entries} side={tab.side} label={label} onOpen={open} /> : <Ranking entries={entries} side={tab.side} label={label} onOpen={open} />}
    </Card>
  )
}
