import { Button, Group, Popover, RangeSlider, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { type FormEvent, useState } from 'react'
import { DownIcon } from '../components/icons'
import { outerBounds, parseSteps, stepsText } from '../lib/ranges'
import { useTexts } from '../state/language'

interface StepRangeControlProps {
  /** Numbers of the steps there are, in order. */
  readonly steps: readonly number[]
  readonly chosen: string | null
  readonly onChoose: (steps: string | null) => void
}

/** Which steps count: a slider over those there are, or written as on the command line. */
export function StepRangeControl({ steps, chosen, onChoose }: StepRangeControlProps) {
  const { frame } = useTexts()
  const [opened, { toggle, close }] = useDisclosure(false)
  return (
    <Popover opened={opened} onChange={(open) => !open && close()} position="bottom-end" width={340} trapFocus withinPortal>
      <Popover.Target>
        <Button size="sm" variant="default" fw={500} onClick={toggle} rightSection={<DownIcon size={14} />} aria-haspopup="dialog">
          {`${frame.steps}: ${chosen ?? frame.allSteps}`}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={frame.steps}>
        {opened && <Form steps={steps} chosen={chosen} onChoose={(text) => { onChoose(text); close() }} />}
      </Popover.Dropdown>
    </Popover>
  )
}

function Form({ steps, chosen, onChoose }: StepRangeControlProps) {
  const { frame } = useTexts()
  const [text, setText] = useState(chosen ?? '')
  const parsed = parseSteps(text)
  const ordered = steps.toSorted((a, b) => a - b)
  const bounds = outerBounds(parsed, ordered) ?? [ordered[0]!, ordered.at(-1)!]
  const places: [number, number] = [ordered.indexOf(bounds[0]), ordered.indexOf(bounds[1])]
  const slide = ([from, to]: [number, number]) => {
    const whole = from === 0 && to === ordered.length - 1
    setText(whole ? '' : stepsText([{ first: ordered[from]!, last: ordered[to]! }]))
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() === '') onChoose(null)
    else if (parsed) onChoose(text.trim())
  }
  return (
    <form onSubmit={submit}>
      <RangeSlider min={0} max={ordered.length - 1} minRange={0} value={places} onChange={slide} label={(place) => ordered[place]} mx="sm" mt="lg" mb="md"
        thumbFromLabel={frame.firstStep} thumbToLabel={frame.lastStep} />
      <TextInput label={frame.stepsHint} value={text} onChange={(event) => setText(event.currentTarget.value)} placeholder={`${ordered[0]}-${ordered.at(-1)}`}
        error={text.trim() !== '' && !parsed ? frame.stepsWrong : undefined} data-autofocus />
      <Group mt="md" justify="space-between">
        <Button size="xs" variant="subtle" onClick={() => onChoose(null)}>{frame.reset}</Button>
        <Button size="xs" type="submit" disabled={text.trim() !== '' && !parsed}>{frame.apply}</Button>
      </Group>
    </form>
  )
}
