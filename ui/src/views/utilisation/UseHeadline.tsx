import type { Collective, DeviceUse, Utilisation } from '../../api/shapes'
import { Card } from '../../components/Card'
import { EmptyState } from '../../components/EmptyState'
import { Headline } from '../../components/Headline'
import { UseBar, UseLegend } from '../../components/UseBar'
import { share, time } from '../../lib/units'
import { deviceSegments, shareOf } from '../../lib/utilisation'
import { useSelection } from '../../state/address'
import { useTexts } from '../../state/language'
import type { Texts } from '../../texts/catalogues'

type Times = Pick<DeviceUse, 'device' | 'name' | 'span_ns' | 'busy_ns' | 'idle_ns' | 'compute_ns' | 'communication_ns' | 'communication_exposed_ns' | 'copy_exposed_ns'>

interface UseHeadlineProps {
  readonly devices: readonly DeviceUse[]
  readonly total: Utilisation['device_total']
  readonly collectives: readonly Collective[]
  readonly how: string | undefined
}

/** How busy the devices are, in one sentence and one bar. */
export function UseHeadline({ devices, total, collectives, how }: UseHeadlineProps) {
  const { utilisation: texts } = useTexts()
  const { steps } = useSelection()
  const told: Times | undefined = devices.length === 1 ? devices[0] : (total ?? undefined)
  if (!told || devices.length === 0) return <Card title={texts.devices}><EmptyState what={texts.noDevice} why={texts.noDeviceWhy} code={how} /></Card>
  const segments = deviceSegments(told)
  const onHost = collectives.filter(({ on }) => on === 'host')
  const notes = [
    steps === null ? null : texts.part(steps),
    onHost.length > 0 ? texts.hostCommunication(time(onHost.reduce((sum, each) => sum + each.total_ns, 0)), onHost.reduce((sum, each) => sum + each.count, 0)) : null,
  ]
  return (
    <Headline label={texts.question} words={texts.sentence([busy(told, devices, texts), ...communication(told, texts)])} notes={notes}>
      {segments && <><UseBar segments={segments} label={texts.devices} tall /><UseLegend segments={segments} /></>}
    </Headline>
  )
}

function busy(told: Times, devices: readonly DeviceUse[], texts: Texts['utilisation']): string {
  const name = texts.device(told.device, told.name)
  if (told.busy_ns === null) return texts.unknownBusy(name)
  if (devices.length === 1) return texts.busy(name, share(shareOf(told.busy_ns, told.span_ns)))
  const spans = devices.reduce((sum, each) => sum + each.span_ns, 0)
  return texts.allBusy(devices.length, share(shareOf(devices.reduce((sum, each) => sum + (each.busy_ns ?? 0), 0), spans)))
}

/** What of the communication is exposed. Nothing is said of it where it is not known. */
function communication({ communication_ns: all, communication_exposed_ns: exposed }: Times, texts: Texts['utilisation']): string[] {
  if (all === null || exposed === null) return []
  if (all === 0) return [texts.noCommunication]
  return [exposed === 0 ? texts.hidden : texts.exposed(share(exposed / all))]
}
