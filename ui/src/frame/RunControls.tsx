import { Select } from '@mantine/core'
import { entryOf, useWholeReport } from '../state/report'
import { useParam, useParams, usePlace, useSelection } from '../state/address'
import { useTexts } from '../state/language'
import { useRun } from '../state/runs'
import { FIRST_PAGE } from '../state/tables'
import { PAGES } from '../views/pages'
import styles from './Frame.module.css'
import { StepRangeControl } from './StepRangeControl'

/** Rank, and of device and steps what counts on the page: they live in the address. What has one choice shows none. */
export function RunControls({ run }: { run: string }) {
  const { frame } = useTexts()
  const { rank, device, steps } = useSelection()
  const [, setDevice] = useParam('device')
  const [, change] = useParams()
  const { page } = usePlace()
  const takes = PAGES.find(({ name }) => name === page)?.takes ?? []
  const { data: known } = useRun(run)
  const { data: report } = useWholeReport(run, known?.status === 'ready')
  if (!report) return null
  const entry = entryOf(report, rank)
  const ranks = [...new Set(report.ranks.map((each) => each.rank))].filter((each) => each !== null)
  const devices = entry?.devices ?? []
  return (
    <div className={styles.controls}>
      {ranks.length > 1 && (
        <Select size="sm" w={116} label={null} aria-label={frame.rank} leftSection={null} allowDeselect={false} comboboxProps={{ withinPortal: true }}
          data={ranks.map((each) => ({ value: String(each), label: `${frame.rank} ${each}` }))}
          value={String(entry?.rank ?? ranks[0])} onChange={(chosen) => change({ rank: chosen, device: null })} />
      )}
      {takes.includes('device') && devices.length > 1 && (
        <Select size="sm" w={130} aria-label={frame.device} allowDeselect={false}
          data={[{ value: '', label: `${frame.device}: ${frame.allDevices}` }, ...devices.map((each) => ({ value: String(each.device), label: `${frame.device} ${each.device}` }))]}
          value={device === null ? '' : String(device)} onChange={setDevice} />
      )}
      {takes.includes('steps') && entry !== null && entry.steps.length > 1 && <StepRangeControl steps={entry.steps.map((each) => each.step)} chosen={steps} onChoose={(text) => change({ steps: text, ...FIRST_PAGE })} />}
    </div>
  )
}
