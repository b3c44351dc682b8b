import type { Operators as Answer } from '../../api/shapes'
import { Card } from '../../components/Card'
import { EmptyState } from '../../components/EmptyState'
import { Loaded } from '../../components/Loaded'
import { RECORD } from '../../lib/recording'
import { useTexts } from '../../state/language'
import { MOST_ROWS, useOperators } from '../../state/operators'
import type { PageProps } from '../pages'
import { OperatorDrawer } from './details/OperatorDrawer'
import { onlyKind, tabsOf } from './model'
import { TabView } from './TabView'
import { Choices } from './Choices'
import { useTab } from './view'

/** Which operators take the time. */
export default function Operators({ run }: PageProps) {
  const device = useOperators(run, { on: 'device', by: 'op-type', limit: MOST_ROWS })
  const host = useOperators(run, { on: 'host', by: 'op-type', limit: MOST_ROWS })
  return (
    <Loaded query={device} height={360}>
      {(onDevice) => <Loaded query={host} height={360}>{(onHost) => <Sides run={run} device={onDevice} host={onHost} />}</Loaded>}
    </Loaded>
  )
}

function Sides({ run, device, host }: { run: string; device: Answer; host: Answer }) {
  const { operators: texts } = useTexts()
  const tabs = tabsOf(device.rows, host.rows)
  const [tab, choose] = useTab(tabs)
  if (tab === null) return <Card title={texts.title}><EmptyState what={texts.none} why={texts.noneHow} code={RECORD} /></Card>
  const types = ofKind(tab.side === 'device' ? device : host, tab.kind)
  return (
    <>
      <Choices tabs={tabs} tab={tab} onTab={choose} only={onlyKind(device.rows)} />
      <TabView run={run} tab={tab} types={types} />
      <OperatorDrawer run={run} side={tab.side} />
    </>
  )
}

function ofKind(types: Answer, kind: string | null): Answer {
  if (kind === null) return types
  const rows = types.rows.filter((row) => row.device_kind === kind)
  return { ...types, rows, total_rows: rows.length + (types.total_rows - types.rows.length) }
}
