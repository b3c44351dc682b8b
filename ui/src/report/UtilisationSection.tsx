import { api } from '../api/client'
import type { Report } from '../api/shapes'
import { Stack } from '../components/Headline'
import { Loaded } from '../components/Loaded'
import { useQueryChoices } from '../state/address'
import { howToRecord } from '../lib/recording'
import { CollectivesCard } from '../views/utilisation/CollectivesCard'
import { CountersCard } from '../views/utilisation/CountersCard'
import { DevicesCard } from '../views/utilisation/DevicesCard'
import { StepsCards } from '../views/utilisation/StepsCards'
import { UseHeadline } from '../views/utilisation/UseHeadline'

/** How busy the devices are, and what communication they hide. */
export function UtilisationSection({ run, report }: { run: string; report: Report }) {
  const use = api.useQuery('get', '/api/runs/{run}/utilisation', { params: { path: { run }, query: useQueryChoices() } })
  return (
    <>
      <Loaded query={use} height={320}>
        {({ devices, device_total: total, together, collectives }) => (
          <Stack>
            <UseHeadline devices={devices} total={total} collectives={collectives} how={howToRecord(report, 'device kernels')} />
            {devices.length > 0 && <DevicesCard devices={devices} />}
            {devices.length > 0 && <StepsCards steps={together} how={howToRecord(report, 'step markers')} />}
            <CollectivesCard collectives={collectives} />
          </Stack>
        )}
      </Loaded>
      <CountersCard run={run} />
    </>
  )
}
