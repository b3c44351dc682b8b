import { useMemo } from 'react'
import type { RankReport, Steps } from '../api/shapes'
import { Stack } from '../components/Headline'
import { Loaded } from '../components/Loaded'
import { stepRows } from '../lib/steps'
import { useStepTrace } from '../state/steps'
import { BudgetChart } from '../views/steps/BudgetChart'
import { Headline } from '../views/steps/Headline'
import { PartCharts } from '../views/steps/PartCharts'
import { SkippedCard } from '../views/steps/SkippedCard'

/** How long each step took, and where its time went. */
export function StepsSection({ run, entry }: { run: string; entry: RankReport | null }) {
  const trace = useStepTrace(run)
  return <Loaded query={trace} height={320}>{(known) => <Known trace={known} entry={entry} />}</Loaded>
}

function Known({ trace, entry }: { trace: Steps; entry: RankReport | null }) {
  const rows = useMemo(() => stepRows(trace.steps, entry?.steps ?? [], trace.skipped), [trace, entry])
  const chooses = { rows, selected: null, onSelect: () => undefined }
  if (rows.length === 0) return null // said where the budget would be
  return (
    <Stack>
      <Headline rows={rows} trace={trace} />
      {rows.length > 1 && <BudgetChart {...chooses} />}
      <PartCharts {...chooses} trace={trace} />
      {trace.skipped.length > 0 && <SkippedCard skipped={trace.skipped} />}
    </Stack>
  )
}
