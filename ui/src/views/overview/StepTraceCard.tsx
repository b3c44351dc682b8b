import { keepPreviousData } from '@tanstack/react-query'
import { api } from '../../api/client'
import type { Steps } from '../../api/shapes'
import { Card } from '../../components/Card'
import { EmptyState } from '../../components/EmptyState'
import { Loaded } from '../../components/Loaded'
import { StepStrip } from '../../components/StepStrip'
import { useQueryChoices } from '../../state/address'
import { useTexts } from '../../state/language'

/** The average step, drawn to scale. */
export function StepTraceCard({ run }: { run: string }) {
  const { overview: texts } = useTexts()
  const query = useQueryChoices()
  const steps = api.useQuery('get', '/api/runs/{run}/step', { params: { path: { run }, query } }, { placeholderData: keepPreviousData })
  return (
    <Card title={texts.stepTrace} hint={texts.average}>
      <Loaded query={steps} height={120}>{(trace) => <Average trace={trace} />}</Loaded>
    </Card>
  )
}

function Average({ trace }: { trace: Steps }) {
  const { overview: texts } = useTexts()
  if (!trace.average || trace.average.total_ns === null) return <EmptyState what={texts.noSteps} />
  return <StepStrip label={texts.average} step={trace.average} />
}
