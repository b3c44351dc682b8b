import { Card } from '../../components/Card'
import { reasonText } from '../../lib/reasons'
import { numberRanges, type Skipped } from '../../lib/steps'
import { useTexts } from '../../state/language'
import styles from './Steps.module.css'

/** Steps that the averages leave out, or whose parts are unknown, by reason. */
export function SkippedCard({ skipped }: { skipped: readonly Skipped[] }) {
  const { steps: texts } = useTexts()
  const reasons = new Map<string, number[]>()
  for (const { step, reason } of skipped) reasons.set(reason, [...(reasons.get(reason) ?? []), step])
  return (
    <Card title={texts.skipped} hint={texts.skippedHint}>
      <dl className={styles.skipped}>
        {[...reasons].map(([reason, steps]) => (
          <div key={reason}><dt>{texts.skippedSteps(steps.length, numberRanges(steps))}</dt><dd>{reasonText(reason, texts.reasons)}</dd></div>
        ))}
      </dl>
    </Card>
  )
}
