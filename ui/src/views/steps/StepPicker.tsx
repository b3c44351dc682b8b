import { ActionIcon, Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { FoldIcon, UnfoldIcon } from '../../components/icons'
import { chosenStep } from '../../lib/steps'
import { useTexts } from '../../state/language'
import styles from './Steps.module.css'

interface StepPickerProps {
  /** Numbers of the steps there are, in their order. */
  readonly steps: readonly number[]
  /** Place in it; null is the average. */
  readonly selected: number | null
  readonly onSelect: (place: number | null) => void
}

/** A step by its number, the one before or after, or the average. */
export function StepPicker({ steps, selected, onSelect }: StepPickerProps) {
  const { steps: texts } = useTexts()
  const move = (by: number) => onSelect(Math.max(0, Math.min(steps.length - 1, (selected ?? (by > 0 ? -1 : steps.length)) + by)))
  return (
    <div className={styles.picker}>
      <Box key={selected} steps={steps} selected={selected} onSelect={onSelect} />
      <ActionIcon variant="default" size="lg" disabled={selected === 0} onClick={() => move(-1)} aria-label={texts.before} title={texts.before}><FoldIcon size={16} /></ActionIcon>
      <ActionIcon variant="default" size="lg" disabled={selected === steps.length - 1} onClick={() => move(1)} aria-label={texts.after} title={texts.after}><UnfoldIcon size={16} /></ActionIcon>
      <Button size="sm" variant={selected === null ? 'light' : 'default'} aria-pressed={selected === null} onClick={() => onSelect(null)}>{texts.average}</Button>
    </div>
  )
}

function Box({ steps, selected, onSelect }: StepPickerProps) {
  const { steps: texts } = useTexts()
  const [text, setText] = useState(selected === null ? texts.averageWord : String(steps[selected]))
  const [wrong, setWrong] = useState(false)
  const [first, last] = [Math.min(...steps), Math.max(...steps)]
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const chosen = chosenStep(text, steps)
    setWrong(chosen === null)
    if (chosen === 'average') onSelect(null)
    else if (chosen !== null) onSelect(steps.indexOf(chosen))
  }
  return (
    <form onSubmit={submit} className={styles.box}>
      <TextInput size="sm" w={200} value={text} onChange={(event) => { setText(event.currentTarget.value); setWrong(false) }} onFocus={(event) => event.currentTarget.select()}
        aria-label={texts.pick(first, last)} title={texts.pick(first, last)} error={wrong ? texts.pickWrong(first, last) : undefined} />
      <Button size="sm" variant="default" type="submit">{texts.show}</Button>
    </form>
  )
}
