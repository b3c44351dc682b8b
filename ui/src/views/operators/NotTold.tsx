import { Card } from '../../components/Card'
import { EmptyState } from '../../components/EmptyState'
import { howToRecord } from '../../lib/recording'
import { useTexts } from '../../state/language'
import { useWholeReport } from '../../state/report'
import type { Grouping } from './model'

const MODULES = 'with laptime.profile(with_scopes=True) as profiler:'

/** The recording tells no module, or no line, of any operator. */
export function NotTold({ run, by }: { run: string; by: Grouping }) {
  const { operators: texts } = useTexts()
  const { data: report } = useWholeReport(run)
  const stacks = howToRecord(report, 'call stacks')
  return (
    <Card title={texts.groupings[by]}>
      <EmptyState what={by === 'module' ? texts.noModules : texts.noStacks} code={by === 'module' ? MODULES : stacks} />
    </Card>
  )
}
