import { Switch } from '@mantine/core'
import { type KeyboardEvent, useCallback, useState } from 'react'
import type { MemoryCurve } from '../../api/shapes'
import { Card } from '../../components/Card'
import { Chart } from '../../components/chart/Chart'
import type { Look } from '../../components/chart/look'
import { changeFrom, type StepSpan } from '../../lib/memory'
import { exactly } from '../../lib/units'
import { useTexts } from '../../state/language'
import { curveOption } from './curveOption'
import { InstantBar } from './InstantBar'
import styles from './Memory.module.css'
import { totalsOf } from './totals'

export interface CurveCardProps {
  readonly curve: MemoryCurve
  readonly steps: readonly StepSpan[]
  readonly at: number
  readonly onAt: (at: number | null) => void
}

/** Below this share of what is drawn beside it, the curve would be pressed flat. */
const NEAR = 0.3

/** Memory over time; a click or the arrow keys choose the instant that the rest of the page explains. */
export function CurveCard({ curve, steps, at, onAt }: CurveCardProps) {
  const { memory: texts } = useTexts()
  const all = totalsOf(curve, texts)
  const near = (size: number) => Math.max(...curve.bytes) > size * NEAR
  const [toCapacity, setToCapacity] = useState(near(curve.capacity_bytes ?? Infinity))
  const [withTotals, setWithTotals] = useState(near(Math.max(...all.flatMap(({ counter }) => counter.values))))
  const [seen, setSeen] = useState<readonly [number, number] | null>(null)
  const totals = withTotals ? all : []
  // What is seen after zooming is taken along when something else changes; by itself it draws nothing anew.
  const option = useCallback(
    (look: Look) => curveOption({ curve, totals, steps, at, toCapacity, seen }, look, texts),
    [curve, steps, at, toCapacity, withTotals, texts],
  )
  const go = (event: KeyboardEvent<HTMLElement>) => {
    const next = keyed(event, curve, at)
    if (next === undefined) return
    event.preventDefault()
    onAt(next)
  }
  const switches = (
    <>
      {all.length > 0 && <Switch size="sm" label={texts.withTotals} checked={withTotals} onChange={(event) => setWithTotals(event.currentTarget.checked)} />}
      {curve.capacity_bytes !== null && <Switch size="sm" label={texts.toCapacity} checked={toCapacity} onChange={(event) => setToCapacity(event.currentTarget.checked)} />}
    </>
  )
  return (
    <Card title={texts.curve} hint={`${texts.curveHint} ${texts.seen}`} actions={switches} evidence="memory_pressure">
      <div className={styles.curve} role="group" tabIndex={0} aria-label={texts.curve} aria-describedby="memory-keys" onKeyDown={go}>
        <Chart label={texts.curve} option={option} height={320} onPlace={(x) => onAt(Math.max(curve.start_ns, Math.min(curve.end_ns, x)))} onZoom={(first, last) => setSeen([first, last])}
          table={() => ({ columns: [texts.time, texts.bytes], rows: curve.times_ns.map((ns, place) => [exactly(ns, 'time'), exactly(curve.bytes[place], 'bytes')]) })} />
      </div>
      <InstantBar curve={curve} steps={steps} at={at} onAt={onAt} />
      <p id="memory-keys" className={styles.keys}>{texts.curveKeys}</p>
    </Card>
  )
}

/** Where a key leads; null is the peak. */
function keyed({ key, shiftKey, target, currentTarget }: KeyboardEvent<HTMLElement>, curve: MemoryCurve, at: number): number | null | undefined {
  if (target !== currentTarget) return undefined
  const by = shiftKey ? 10 : 1
  const moves: Record<string, number> = { ArrowRight: by, ArrowLeft: -by, Home: -Infinity, End: Infinity }
  if (key === 'p' || key === 'P') return null
  return moves[key] === undefined ? undefined : changeFrom(curve.times_ns, at, moves[key])
}
