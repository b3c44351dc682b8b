import { SegmentedControl } from '@mantine/core'
import { Card } from '../../components/Card'
import { useParams, useSelection } from '../../state/address'
import { useTexts } from '../../state/language'
import { BlockTable } from './BlockTable'
import { OperatorTable } from './OperatorTable'
import type { MemoryChoice } from './useMemory'

/** All blocks, each by itself or by the operator that made them. */
export function AllocationsCard({ choice }: { choice: MemoryChoice }) {
  const { memory: texts } = useTexts()
  const [params, change] = useParams()
  const { steps } = useSelection()
  const by = params.get('by') === 'operator' ? 'operator' : 'block'
  const choose = (value: string) => change({ by: value === 'block' ? null : value, sort: null, q: null, offset: null })
  const views = [{ value: 'block', label: texts.each }, { value: 'operator', label: texts.byOperator }]
  return (
    <Card title={texts.allocations} hint={steps === null ? texts.allocationsHint : texts.allocationsOfSteps} actions={<SegmentedControl size="xs" data={views} value={by} onChange={choose} aria-label={texts.view} />}>
      {by === 'block' ? <BlockTable choice={choice} /> : <OperatorTable choice={choice} />}
    </Card>
  )
}
