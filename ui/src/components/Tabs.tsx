import { type KeyboardEvent, useRef } from 'react'
import styles from './Tabs.module.css'

export interface TabsProps {
  /** What the tabs tell apart. */
  readonly label: string
  readonly tabs: readonly { readonly id: string; readonly name: string }[]
  readonly chosen: string
  readonly onChoose: (id: string) => void
}

const MOVES: Record<string, (at: number, count: number) => number> = {
  ArrowRight: (at, count) => (at + 1) % count,
  ArrowLeft: (at, count) => (at + count - 1) % count,
  Home: () => 0,
  End: (_, count) => count - 1,
}

/** Tabs of a page; arrows go to the next one. */
export function Tabs({ label, tabs, chosen, onChoose }: TabsProps) {
  const list = useRef<HTMLDivElement>(null)
  const move = (event: KeyboardEvent, at: number) => {
    const next = MOVES[event.key]?.(at, tabs.length)
    if (next === undefined) return
    event.preventDefault()
    onChoose(tabs[next]!.id)
    list.current?.querySelectorAll('button')[next]?.focus()
  }
  return (
    <div ref={list} className={styles.tabs} role="tablist" aria-label={label}>
      {tabs.map(({ id, name }, at) => (
        <button key={id} type="button" role="tab" aria-selected={id === chosen} tabIndex={id === chosen ? 0 : -1} className={styles.tab} onClick={() => onChoose(id)} onKeyDown={(event) => move(event, at)}>{name}</button>
      ))}
    </div>
  )
}
