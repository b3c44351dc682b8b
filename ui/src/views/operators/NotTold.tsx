import { Card } from '../../components/Card'
import { EmptyState } from '../../components/EmptyState'
import { useTexts } from '../../state/language'
import { useWholeReport } from '../../state/report'
import type { Grouping } from './model'

const MODULES = 'with laptime.profile(with_scopes=True) as profiler:'

/** The recording tells no module, or no line, of any operator. */
export function NotTold({ run, by }: { run: string; by: Grouping }) {
  const { operators: texts } = useTexts()
  const { data: report } = useWholeReport(run)
  const stacks = report?.not_recorded.find(({ what }) => what === 'call stacks')?.how_to_record
  return (
    <Card title={texts.groupings[by]}>
      <EmptyState what={by === 'module' ? texts.noModules : texts.noStacks} code={by === 'module' ? MODULES : stacks} />
    </Card>
  )
}
