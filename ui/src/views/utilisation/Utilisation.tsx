import { keepPreviousData } from '@tanstack/react-query'
import { api } from '../../api/client'
import type { Utilisation as Use } from '../../api/shapes'
import { Stack } from '../../components/Headline'
import { Loaded } from '../../components/Loaded'
import { useQueryChoices, useSelection } from '../../state/address'
import { useWholeReport } from '../../state/report'
import { howToRecord } from '../../lib/recording'
import type { PageProps } from '../pages'
import { CollectivesCard } from './CollectivesCard'
import { CountersCard } from './CountersCard'
import { DevicesCard } from './DevicesCard'
import { StepsCards } from './StepsCards'
import { UseHeadline } from './UseHeadline'

/** How busy the devices are, and what is hidden behind compute. */
export default function Utilisation({ run }: PageProps) {
  const query = useQueryChoices()
  const use = api.useQuery('get', '/api/runs/{run}/utilisation', { params: { path: { run }, query } }, { placeholderData: keepPreviousData })
  const { data: report } = useWholeReport(run)
  return (
    <Loaded query={use} height={480}>
      {(found) => (
        <Stack>
          <OfDevice use={found} how={howToRecord(report, 'device kernels')} howSteps={howToRecord(report, 'step markers')} />
          <CountersCard run={run} />
        </Stack>
      )}
    </Loaded>
  )
}

/** The page for the device that the header chooses, or for all. */
function OfDevice({ use, how, howSteps }: { use: Use; how: string | undefined; howSteps: string | undefined }) {
  const { device } = useSelection()
  const devices = device === null ? use.devices : use.devices.filter((each) => each.device === device)
  const steps = device === null ? use.together : use.steps.filter((step) => step.device === device)
  return (
    <>
      <UseHeadline devices={devices} total={device === null ? use.device_total : null} collectives={use.collectives} how={how} />
      {devices.length > 0 && <DevicesCard devices={devices} />}
      {devices.length > 0 && <StepsCards steps={steps} how={howSteps} />}
      <CollectivesCard collectives={use.collectives} />
    </>
  )
}
