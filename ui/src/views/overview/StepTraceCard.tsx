import type { Report, Steps } from '../../api/shapes'
import { Card } from '../../components/Card'
import { EmptyState } from '../../components/EmptyState'
import { Loaded } from '../../components/Loaded'
import { PageLink } from '../../components/PageLink'
import { StepStrip } from '../../components/StepStrip'
import { codeThatRecords } from '../../lib/recording'
import { useTexts } from '../../state/language'
import { useStepTrace } from '../../state/steps'

/** The average step, drawn to scale, a lane for each stream that communicates. */
export function StepTraceCard({ run, report }: { run: string; report: Report }) {
  const { overview: texts } = useTexts()
  const trace = useStepTrace(run)
  const used = trace.data?.average?.steps_used
  return (
    <Card title={texts.stepTrace} hint={used === undefined ? texts.average : texts.averageOf(used)} actions={<PageLink run={run} page="steps" />} evidence="step_variation">
      <Loaded query={trace} height={160}>{(known) => <Average trace={known} report={report} />}</Loaded>
    </Card>
  )
}

function Average({ trace, report }: { trace: Steps; report: Report }) {
  const { overview: texts } = useTexts()
  if (!trace.average || trace.average.total_ns === null) {
    return <EmptyState what={texts.noSteps} why={texts.noStepsHow} code={codeThatRecords(report, 'step markers')} />
  }
  return <StepStrip label={texts.average} step={trace.average} communication={trace.average.communication} />
}
