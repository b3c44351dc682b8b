import type { MemoryCurve } from '../../api/shapes'
import { Headline } from '../../components/Headline'
import { counterText } from '../../lib/counters'
import { ownerTree, stepAt, type StepSpan } from '../../lib/memory'
import { bytes, share, time } from '../../lib/units'
import { useSelection } from '../../state/address'
import { useTexts } from '../../state/language'
import { type MemoryChoice, useLive } from './useMemory'

interface MemoryHeadlineProps {
  readonly curve: MemoryCurve
  readonly choice: MemoryChoice
  readonly steps: readonly StepSpan[]
}

/** How full the memory gets, when, and of what. */
export function MemoryHeadline(props: MemoryHeadlineProps) {
  return props.curve.peak_at_ns === null ? <OfCounters {...props} /> : <OfBlocks {...props} peakAt={props.curve.peak_at_ns} />
}

function OfBlocks({ curve, choice, steps, peakAt }: MemoryHeadlineProps & { peakAt: number }) {
  const { memory: texts } = useTexts()
  const { steps: chosen } = useSelection()
  const { data: live } = useLive(choice, null)
  const step = stepAt(steps, peakAt)
  const [largest] = live ? ownerTree(live.owners, live.bytes, { unknown: texts.unknownOwner, others: texts.others }) : []
  const notes = [
    step === null ? null : texts.inStep(step),
    curve.capacity_bytes === null || curve.peak_bytes === null ? null : texts.ofCapacity(share(curve.peak_bytes / curve.capacity_bytes), bytes(curve.capacity_bytes)),
    largest === undefined ? null : texts.largest(largest.name, bytes(largest.value), share(live?.bytes ? largest.value / live.bytes : null)),
  ]
  return (
    <Headline label={texts.question} words={texts.peak(curve.device, bytes(curve.peak_bytes), time(peakAt), chosen)} notes={notes} />
  )
}

function OfCounters({ curve }: MemoryHeadlineProps) {
  const { memory: texts } = useTexts()
  const [top] = curve.counters.filter(({ max_value: most }) => most !== null).toSorted((a, b) => b.max_value! - a.max_value!)
  const words = top ? texts.counterPeak(top.name, counterText(top.max_value, top), time(top.max_at_ns)) : texts.noSamples
  return <Headline label={texts.question} words={words} notes={[texts.onlyCounters]} />
}
