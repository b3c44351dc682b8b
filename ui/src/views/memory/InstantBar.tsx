import { ActionIcon, Button, Tooltip } from '@mantine/core'
import type { MemoryCurve } from '../../api/shapes'
import { FoldIcon, UnfoldIcon } from '../../components/icons'
import { changeFrom, levelAt, stepAt, type StepSpan } from '../../lib/memory'
import { bytes, exactly, share, time } from '../../lib/units'
import { useTexts } from '../../state/language'
import styles from './Memory.module.css'

interface InstantBarProps {
  readonly curve: MemoryCurve
  readonly steps: readonly StepSpan[]
  readonly at: number
  readonly onAt: (at: number | null) => void
}

/** The chosen instant in words, and buttons that move it. */
export function InstantBar({ curve, steps, at, onAt }: InstantBarProps) {
  const { memory: texts } = useTexts()
  const level = levelAt(curve, at)
  const step = stepAt(steps, at)
  const ofPeak = level !== null && curve.peak_bytes ? level / curve.peak_bytes : null
  const words = [step === null ? null : texts.inStep(step), bytes(level), ofPeak === null ? null : texts.ofPeak(share(ofPeak))]
  return (
    <div className={styles.instant}>
      <Move label={texts.earlier} icon={<FoldIcon size={16} />} onGo={() => onAt(changeFrom(curve.times_ns, at, -1))} />
      <Move label={texts.later} icon={<UnfoldIcon size={16} />} onGo={() => onAt(changeFrom(curve.times_ns, at, 1))} />
      <Button size="xs" variant="default" disabled={at === curve.peak_at_ns} onClick={() => onAt(null)}>{texts.toPeak}</Button>
      <p className={`numbers ${styles.words}`} role="status">
        <strong title={exactly(at, 'time')} data-testid="instant">{time(at)}</strong> {words.filter(Boolean).join(' · ')}
      </p>
    </div>
  )
}

function Move({ label, icon, onGo }: { label: string; icon: React.ReactNode; onGo: () => void }) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="default" size={30} aria-label={label} onClick={onGo}>{icon}</ActionIcon>
    </Tooltip>
  )
}
