import { Button } from '@mantine/core'
import { useState } from 'react'
import { asProblem, problemOf } from '../../api/problem'
import { OpenIcon } from '../../components/icons'
import { ProblemNote } from '../../components/ProblemNote'
import { type Handed, openInPerfetto } from '../../lib/perfetto'
import { useTexts } from '../../state/language'
import styles from './Overview.module.css'

/** The one way out of these pages, and only by a click: a new tab, which gets the data from this one. */
export function PerfettoButton({ address, title }: { address: string; title: string }) {
  const { overview: texts } = useTexts()
  const [state, setState] = useState<Handed | 'opening' | null>(null)
  const [error, setError] = useState<unknown>(null)
  const open = async () => {
    setError(null)
    setState('opening')
    try {
      setState(await openInPerfetto(() => read(address), title))
    } catch (problem) {
      setState(null)
      setError(problem)
    }
  }
  return (
    <>
      <Button size="sm" variant="default" onClick={() => void open()} loading={state === 'opening'} leftSection={<OpenIcon size={16} />} title={texts.perfettoHint}>{texts.perfetto}</Button>
      {state !== null && <p className={styles.state} role="status">{texts.perfettoStates[state]}</p>}
      {error !== null && <ProblemNote error={asProblem(error)} title={texts.perfettoStates.failed} />}
    </>
  )
}

async function read(address: string): Promise<ArrayBuffer> {
  const response = await fetch(address)
  if (!response.ok) throw await problemOf(response)
  return response.arrayBuffer()
}
