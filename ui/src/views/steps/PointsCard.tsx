import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import type { Steps as Trace } from '../../api/shapes'
import { Card } from '../../components/Card'
import { CodeLine } from '../../components/CodeLine'
import { useTexts } from '../../state/language'
import { type Points, usePoints } from '../../state/steps'
import styles from './Steps.module.css'

const WHY = { pytorch: 'whyPytorch', mindspore: 'whyMindspore', megengine: 'whyMegengine' } as const

/** The operators that part the steps, why these, and how to take others. */
export function PointsCard({ trace, framework, source }: { trace: Trace; framework: string | null; source: string }) {
  const { steps: texts } = useTexts()
  const [points, setPoints] = usePoints()
  const known = trace.forward_start_op !== null || trace.backward_end_op !== null
  const why = known ? (WHY[framework as keyof typeof WHY] ?? null) : 'whyOther'
  return (
    <Card title={texts.points}>
      <dl className={styles.points}>
        <div><dt>{texts.forward}</dt><dd><code>{trace.forward_start_op ?? texts.notKnown}</code></dd></div>
        <div><dt>{texts.backward}</dt><dd><code>{trace.backward_end_op ?? texts.notKnown}</code></dd></div>
      </dl>
      {why !== null && <p className={styles.why}>{known && <strong>{texts.why} </strong>}{texts[why]}</p>}
      <details className={styles.more} open={points.forward !== null || points.backward !== null || points.communication !== null}>
        <summary>{texts.override}</summary>
        <Override key={JSON.stringify(points)} points={points} onApply={setPoints} />
        <p className={styles.why}>{texts.onCommandLine}</p>
        <CodeLine code={commandOf(source, points, trace)} />
        {framework === 'mindspore' && (
          <>
            <p className={styles.why}>{texts.beforeTraining}</p>
            <CodeLine code={`export FP_POINT=${quoted(points.forward ?? trace.forward_start_op ?? 'NAME')} BP_POINT=${quoted(points.backward ?? trace.backward_end_op ?? 'NAME')}`} />
          </>
        )}
      </details>
    </Card>
  )
}

function Override({ points, onApply }: { points: Points; onApply: (points: Points) => void }) {
  const { steps: texts } = useTexts()
  const [typed, setTyped] = useState(points)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onApply(typed)
  }
  const box = (key: keyof Points, label: string) => (
    <TextInput size="sm" label={label} value={typed[key] ?? ''} maxLength={1000} onChange={(event) => setTyped({ ...typed, [key]: event.currentTarget.value || null })} />
  )
  return (
    <form onSubmit={submit} className={styles.override}>
      {box('forward', texts.forwardBox)}
      {box('backward', texts.backwardBox)}
      {box('communication', texts.communicationBox)}
      <div className={styles.buttons}>
        <Button size="sm" type="submit">{texts.apply}</Button>
        <Button size="sm" variant="default" onClick={() => onApply({ forward: null, backward: null, communication: null })}>{texts.reset}</Button>
      </div>
      <p className={styles.note}>{texts.overrideHint}</p>
    </form>
  )
}

function commandOf(source: string, points: Points, trace: Trace): string {
  const forward = points.forward ?? trace.forward_start_op ?? 'NAME'
  const backward = points.backward ?? trace.backward_end_op ?? 'NAME'
  const more = points.communication === null ? '' : ` --comm-point ${quoted(points.communication)}`
  return `laptime step ${quoted(source)} --fp-point ${quoted(forward)} --bp-point ${quoted(backward)}${more}`
}

function quoted(text: string): string {
  return /^[\w./:=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
