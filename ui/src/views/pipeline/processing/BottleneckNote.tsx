import type { Pipeline } from '../../../api/shapes'
import { WarningIcon } from '../../../components/icons'
import { useFindings } from '../../../state/findings'
import { count, share, time } from '../../../lib/units'
import { useTexts } from '../../../state/language'
import type { Texts } from '../../../texts/catalogues'
import { isHarmless, isOfWholeOnly, type Reason, reasonOf } from '../model'
import styles from '../Pipeline.module.css'

/** Which operator holds the pipeline up, why, and what to do about it. */
export function BottleneckNote({ run, pipeline }: { run: string; pipeline: Pipeline }) {
  const { pipeline: texts } = useTexts()
  const { findings } = useFindings(run)
  const { bottleneck, operators, data_bound: bound } = pipeline
  const slow = operators.find(({ op_id }) => op_id === bottleneck?.op_id)
  if (!bottleneck || !slow) return <p className={styles.note}>{isOfWholeOnly(pipeline) ? texts.bottleneckUnknown : texts.noBottleneck}</p>
  // Findings speak the language of the page; they are those of the whole recording.
  const advice = findings.find(({ rule, title }) => rule === 'pipeline_operator' && title.includes(slow.name))?.fix ?? bottleneck.advice
  return (
    <div className={styles.bottleneck}>
      <WarningIcon size={18} />
      <div>
        <p><strong>{texts.isSlow(slow.name)}</strong> {reasonText(reasonOf(slow, operators), texts, slow.op_type)}</p>
        {isHarmless(pipeline) && <p>{texts.harmless(count(bound!.waits), count(bound!.batches))}</p>}
        <p>{texts.advice}: {advice}</p>
      </div>
    </div>
  )
}

function reasonText(reason: Reason, { reasons }: Texts['pipeline'], op_type: string): string {
  if (reason.because === 'time') return reasons.time(op_type, time(reason.per_batch_ns), share(reason.share))
  if (reason.because === 'drop') return reasons.drop(share(reason.input), share(reason.output))
  return reasons[reason.because]
}
