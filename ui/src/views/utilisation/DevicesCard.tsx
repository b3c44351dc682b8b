import { Button } from '@mantine/core'
import { useState } from 'react'
import type { DeviceUse, StreamUse } from '../../api/shapes'
import { Card } from '../../components/Card'
import { Exact } from '../../components/Exact'
import { UseBar, UseLegend } from '../../components/UseBar'
import { count, share, significant } from '../../lib/units'
import { concurrency, deviceSegments, shareOf, streamSegments } from '../../lib/utilisation'
import { useTexts } from '../../state/language'
import styles from './Utilisation.module.css'

/** What each device did, and below it each of its streams. */
export function DevicesCard({ devices }: { devices: readonly DeviceUse[] }) {
  const { utilisation: texts } = useTexts()
  return (
    <Card title={texts.devices} hint={texts.devicesHint} evidence="launch_bound serial_communication exposed_communication small_kernels">
      {devices.map((device) => <Device key={device.device} device={device} alone={devices.length === 1} />)}
    </Card>
  )
}

/** More streams wait behind a button. */
const FIRST = 8

function Device({ device, alone }: { device: DeviceUse; alone: boolean }) {
  const { utilisation: texts } = useTexts()
  const [all, setAll] = useState(false)
  const name = texts.device(device.device, device.name)
  const segments = deviceSegments(device)
  const busiest = device.streams.toSorted((a, b) => (b.busy_ns ?? 0) - (a.busy_ns ?? 0))
  const shown = all ? busiest : busiest.slice(0, FIRST)
  const atOnce = concurrency(device)
  return (
    <div className={styles.device}>
      {!alone && <h3 className={styles.name}>{name} <small className="numbers">{share(shareOf(device.busy_ns, device.span_ns))}</small></h3>}
      {!alone && segments && <UseBar segments={segments} label={name} tall />}
      {!alone && segments && <UseLegend segments={segments} />}
      <ul className={styles.rows} aria-label={name}>
        {shown.map((stream) => <Stream key={stream.track_id} stream={stream} span={device.span_ns} />)}
      </ul>
      {busiest.length > FIRST && <Button mt={12} size="xs" variant="default" onClick={() => setAll(!all)}>{all ? texts.fewer : texts.more(busiest.length - FIRST)}</Button>}
      {device.streams.length > 1 && atOnce !== null && <p className={styles.note}>{texts.concurrency(significant(atOnce))}</p>}
    </div>
  )
}

function Stream({ stream, span }: { stream: StreamUse; span: number }) {
  const { utilisation: texts } = useTexts()
  const name = texts.stream(stream.stream, stream.name)
  const segments = streamSegments(stream, span)
  return (
    <li className={styles.row}>
      <span title={name}>{name}</span>
      {segments ? <UseBar segments={segments} label={name} /> : <span />}
      <span className={`numbers ${styles.value}`}>{share(stream.busy_share)}</span>
      <span className={`numbers ${styles.value} ${styles.dimmed}`} title={texts.slices(count(stream.slices))}><Exact value={stream.busy_ns} as="time" /></span>
    </li>
  )
}
