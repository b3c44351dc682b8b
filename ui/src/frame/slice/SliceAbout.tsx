import { Badge } from '@mantine/core'
import type { ReactNode } from 'react'
import type { SliceAnswer, SliceFacts } from '../../api/shapes'
import { CodeLine } from '../../components/CodeLine'
import { Exact } from '../../components/Exact'
import { kindOfSlice, kindVariable } from '../../lib/colours'
import { useTexts } from '../../state/language'
import styles from './Slice.module.css'
import { SliceFactList } from './SliceFactList'
import { LinkedSlices, SliceList } from './SliceList'
import { StackFrames, Tensors } from './SliceSource'

/** A slice: what it is, its times, where it was called from, what it waited for. */
export function SliceAbout({ answer }: { answer: SliceAnswer }) {
  const { slice: texts } = useTexts()
  const { slice, candidates } = answer
  if (slice === null) return <SliceList title={texts.candidates} slices={candidates} />
  return (
    <div className={styles.about}>
      <h2 className={styles.name}>{slice.name}</h2>
      <p className={styles.tags}>
        <Badge radius="sm" variant="filled" tt="none" style={{ backgroundColor: kindVariable(kindOfSlice(slice.kind)), color: 'var(--on-kind)' }}>{slice.kind}</Badge>
        <span>{[slice.track, slice.process].filter(Boolean).join(' · ')}</span>
      </p>
      <Times slice={slice} />
      <SliceFactList slice={slice} rank={answer.rank} />
      {slice.source !== null && <Part title={texts.source}><CodeLine code={slice.source} /></Part>}
      {slice.inputs.length + slice.outputs.length > 0 && <Part title={texts.tensors}><Tensors inputs={slice.inputs} outputs={slice.outputs} /></Part>}
      {slice.stack.length > 0 && <Part title={texts.stack}><StackFrames frames={slice.stack} /></Part>}
      <LinkedSlices title={texts.waitedFor} slices={answer.waited_for} leftOut={answer.left_out.waited_for} />
      <LinkedSlices title={texts.waitedBy} slices={answer.waited_by} leftOut={answer.left_out.waited_by} />
      <SliceList title={texts.elsewhere} slices={slice.elsewhere} leftOut={slice.elsewhere_left_out} />
      <SliceList title={texts.parents} slices={slice.parents} />
      {slice.arguments != null && <Part title={texts.args}><CodeLine code={JSON.stringify(slice.arguments, null, 2)} /></Part>}
    </div>
  )
}

function Times({ slice }: { slice: SliceFacts }) {
  const { slice: texts } = useTexts()
  const times = [
    [texts.duration, slice.dur_ns],
    [texts.self, slice.self_ns],
    [texts.hostTime, slice.host_ns],
    [slice.device_slices > 1 ? texts.deviceTimes(slice.device_slices) : texts.deviceTime, slice.device_ns],
  ] as const
  return (
    <dl className={styles.times}>
      {times.map(([name, ns]) => <div key={name}><dt>{name}</dt><dd><Exact value={ns} as="time" /></dd></div>)}
    </dl>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return <section><h3 className={styles.title}>{title}</h3>{children}</section>
}
