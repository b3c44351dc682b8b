import type { ReactNode } from 'react'
import type { OperatorDetails } from '../../../api/shapes'
import { CodeLine } from '../../../components/CodeLine'
import { StackFrames } from '../../../frame/slice/SliceSource'
import { howToRecord } from '../../../lib/recording'
import { useTexts } from '../../../state/language'
import { useWholeReport } from '../../../state/report'
import { ByStep } from './ByStep'
import styles from './Details.module.css'
import { Histogram } from './Histogram'
import { Longest } from './Longest'
import { SideTimes } from './SideTimes'
import { Variants } from './Variants'

/** A row in full: both sides, how its executions spread, what they worked on, who called them. */
export function OperatorAbout({ run, details }: { run: string; details: OperatorDetails }) {
  const { operators: texts, slice } = useTexts()
  const words = texts.details
  const about = [details.op_type === details.name ? null : details.op_type, details.device_kind === null ? null : texts.processor(details.device_kind)]
  return (
    <div className={styles.about}>
      <h2 className={styles.name}>{details.name}</h2>
      <p className={styles.kind}>{about.filter(Boolean).join(' · ')}</p>
      <SideTimes details={details} />
      {details.histogram === null ? <p className={styles.note}>{words.onlySums}</p> : <Part title={words.histogram}><Histogram histogram={details.histogram} /></Part>}
      {details.by_step.some(({ step }) => step !== null) && <Part title={words.byStep}><ByStep steps={details.by_step} /></Part>}
      <Part title={details.variants.length > 1 ? words.variants(details.variants.length + details.variants_left_out) : words.tensors}>
        {details.variants.length === 0 ? <Missing run={run} what="input shapes" words={words.noTensors} /> : <Variants details={details} />}
      </Part>
      {details.called_from !== null && <Part title={words.source}><CodeLine code={details.called_from} /></Part>}
      <Part title={slice.stack}>{details.stack.length === 0 ? <Missing run={run} what="call stacks" words={words.noStack} /> : <StackFrames frames={details.stack} />}</Part>
      {details.longest.length > 0 && <Part title={words.longest}><Longest executions={details.longest} /></Part>}
      <Known info={details.info} />
    </div>
  )
}

export function Part({ title, children }: { title: string; children: ReactNode }) {
  return <section><h3 className={styles.title}>{title}</h3>{children}</section>
}

/** What the recording lacks, and what would record it. */
function Missing({ run, what, words }: { run: string; what: string; words: string }) {
  const { data: report } = useWholeReport(run)
  const how = howToRecord(report, what)
  return (
    <>
      <p className={styles.note}>{words}</p>
      {how !== undefined && <CodeLine code={how} />}
    </>
  )
}

/** What the source says beside: data types, subgraph, arithmetic. Shapes stand above. */
function Known({ info }: { info: OperatorDetails['info'] }) {
  const { operators: texts } = useTexts()
  const shown = Object.entries(info ?? {}).filter(([name, value]) => value !== null && name !== 'input_shapes')
  if (shown.length === 0) return null
  return (
    <Part title={texts.details.more}>
      <dl className={styles.facts}>
        {shown.map(([name, value]) => (
          <div key={name}><dt>{name.replaceAll('_', ' ')}</dt><dd>{typeof value === 'object' ? JSON.stringify(value) : String(value)}</dd></div>
        ))}
      </dl>
    </Part>
  )
}
