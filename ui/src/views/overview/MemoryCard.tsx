import { keepPreviousData } from '@tanstack/react-query'
import { api } from '../../api/client'
import type { Memory, Report } from '../../api/shapes'
import { Card } from '../../components/Card'
import { EmptyState } from '../../components/EmptyState'
import { Exact } from '../../components/Exact'
import { Loaded } from '../../components/Loaded'
import { PageLink } from '../../components/PageLink'
import { counterText, isBytes } from '../../lib/counters'
import { codeThatRecords } from '../../lib/recording'
import { bytes, count, time } from '../../lib/units'
import { useQueryChoices } from '../../state/address'
import { useTexts } from '../../state/language'
import styles from './Overview.module.css'

const MOST_OWNERS = 3
const MOST_COUNTERS = 4

/** How high the memory rises, and what fills it there. */
export function MemoryCard({ run, report }: { run: string; report: Report }) {
  const { overview: texts } = useTexts()
  const choices = useQueryChoices()
  const query = api.useQuery('get', '/api/runs/{run}/memory', { params: { path: { run }, query: choices } }, { placeholderData: keepPreviousData })
  return (
    <Card title={texts.memoryPeak} actions={<PageLink run={run} page="memory" />} evidence="memory_pressure recomputation">
      <Loaded query={query} height={160}>{(memory) => <Peaks memory={memory} report={report} />}</Loaded>
    </Card>
  )
}

function Peaks({ memory, report }: { memory: Memory; report: Report }) {
  const { overview: texts } = useTexts()
  const counters = memory.devices.length > 0 ? [] : memory.counters
  if (memory.devices.length + counters.length === 0) return <EmptyState what={texts.noMemory} why={texts.noMemoryWhy} code={codeThatRecords(report, 'memory')} />
  return (
    <>
      {memory.devices.map((device) => <Device key={device.device} device={device} />)}
      {counters.length > 0 && (
        <dl className={styles.rows}>
          {counters.slice(0, MOST_COUNTERS).map((counter) => (
            <div key={counter.name}>
              <dt>{counter.name}</dt>
              <dd>{texts.mostValue} {isBytes(counter) ? <Exact value={counter.max_value} as="bytes" /> : counterText(counter.max_value, counter)}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  )
}

function Device({ device }: { device: Memory['devices'][number] }) {
  const { overview: texts } = useTexts()
  return (
    <div className={styles.device}>
      <p className={styles.figure}>
        <strong><Exact value={device.peak_bytes} as="bytes" /></strong>
        <span>{texts.peak} {device.peak_at_ns !== null && texts.peakAt(time(device.peak_at_ns))} · {texts.device(device.device ?? '–')}</span>
      </p>
      <p className={styles.dimmed}>{texts.blocks(count(device.allocations))} · {texts.stillHeld(bytes(device.end_bytes))}</p>
      {device.live_at_peak.length > 0 && (
        <dl className={styles.rows} aria-label={texts.largest}>
          {device.live_at_peak.slice(0, MOST_OWNERS).map((owner, at) => (
            <div key={at}><dt>{owner.name ?? owner.op ?? '–'}</dt><dd><Exact value={owner.size_bytes} as="bytes" /></dd></div>
          ))}
        </dl>
      )}
    </div>
  )
}
