import { SegmentedControl, Select } from '@mantine/core'
import { Tabs } from '../../components/Tabs'
import { useTexts } from '../../state/language'
import { usePhone } from '../../state/screen'
import { type Grouping, GROUPINGS, type Tab } from './model'
import styles from './Operators.module.css'
import { useGrouping } from './view'

interface ChoicesProps {
  readonly tabs: readonly Tab[]
  readonly tab: Tab
  readonly onTab: (id: string) => void
  /** The only kind of processor of the device, where there is but one. */
  readonly only: string | null
}

/** Where operators ran, and what they are grouped by. */
export function Choices({ tabs, tab, onTab, only }: ChoicesProps) {
  const { operators: texts } = useTexts()
  const offered = groupingsOf(tab)
  const [by, group] = useGrouping(offered)
  const phone = usePhone()
  const name = (each: Tab) => texts.tab(each.side, each.kind ?? (each.side === 'device' ? only : null), tabs.length)
  return (
    <div className={styles.choices}>
      <Tabs label={texts.where} tabs={tabs.map((each) => ({ id: each.id, name: name(each) }))} chosen={tab.id} onChoose={onTab} />
      {phone ? (
        <Select size="sm" aria-label={texts.groupBy} allowDeselect={false} data={offered.map((each) => ({ value: each, label: texts.groupings[each] }))} value={by} onChange={group} />
      ) : (
        <SegmentedControl size="sm" aria-label={texts.groupBy} data={offered.map((each) => ({ value: each, label: texts.groupings[each] }))} value={by} onChange={group} />
      )}
    </div>
  )
}

/** Kernels run on a device; modules and lines are told of a whole side alone. */
export function groupingsOf(tab: Tab): Grouping[] {
  return GROUPINGS.filter((by) => (by === 'kernel' ? tab.side === 'device' : tab.kind === null || (by !== 'module' && by !== 'source')))
}
