import type { Steps as Trace } from '../../api/shapes'
import { numberRanges, quantile, slowestOf, type StepRow } from '../../lib/steps'
import { significant, time } from '../../lib/units'
import { useTexts } from '../../state/language'
import type { Texts } from '../../texts/catalogues'
import { STEP_PARTS } from './partOption'
import styles from './Steps.module.css'

/** Below it no part is worth naming. */
const WORTH_NAMING = 1.05

/** A slowest step beyond it, and none that stands out: they all differ. */
const VARIED = 1.25

/** What the page says, in words. */
export function Headline({ rows, trace }: { rows: readonly StepRow[]; trace: Trace }) {
  const { steps: texts, terms } = useTexts()
  const inferred = rows.every((row) => row.source === 'inferred')
  const slowest = slowestOf(rows)
  return (
    <section className={styles.top} aria-label={texts.question}>
      <p className={styles.headline} data-testid="headline">{headlineText(rows, texts)}</p>
      {slowest !== null && rows.length > 1 && <p className={styles.evidence}>{slowestText(slowest, trace, texts, terms)} {standOutText(rows, texts)}</p>}
      {inferred && <p className={styles.note}>{texts.inferred}</p>}
    </section>
  )
}

function headlineText(rows: readonly StepRow[], texts: Texts['steps']): string {
  const whole = rows.filter((row) => row.complete).flatMap((row) => row.dur_ns ?? [])
  if (whole.length === 0) return texts.noneChosen
  if (whole.length === 1) return texts.headlineOne(time(whole[0]))
  return texts.headline(whole.length, time(quantile(whole, 0.5)), time(quantile(whole, 0.9)))
}

function slowestText(slowest: StepRow, trace: Trace, texts: Texts['steps'], terms: Texts['terms']): string {
  const words = texts.slowest(slowest.step, time(slowest.dur_ns), significant(slowest.factor ?? 1))
  const more = STEP_PARTS.flatMap(({ key, term }) => {
    const [own, middle] = [slowest[key], trace.median?.[key] ?? null]
    return own === null || middle === null ? [] : [{ term, ns: own - middle }]
  }).toSorted((a, b) => b.ns - a.ns)[0]
  if (!more || more.ns <= 0 || (slowest.factor ?? 1) < WORTH_NAMING) return words
  return `${words} ${texts.moreIn(terms[more.term].name, time(more.ns))}`
}

function standOutText(rows: readonly StepRow[], texts: Texts['steps']): string {
  const outliers = rows.filter((row) => row.outlier)
  if (outliers.length === 0 && (slowestOf(rows)?.factor ?? 1) > VARIED) return texts.varied
  return outliers.length === 0 ? texts.steady : texts.standOut(outliers.length, numberRanges(outliers.map((row) => row.step)))
}
