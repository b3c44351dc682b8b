import { Link } from 'wouter'
import type { StripLane, StripMark } from '../lib/strip'
import { exactly, time } from '../lib/units'
import styles from './StepStrip.module.css'

/** Below these shares of the step a text does not fit. */
const GAP_WITH_TEXT = 0.07
const MARK_WITH_TIME = 0.08
const MARK_WITH_NAME = 0.3

/** What a stream communicates in a step, and the time between. */
export function StepLane({ lane, sliceAddress }: { lane: StripLane; sliceAddress?: (slice: number) => string }) {
  const words = lane.marks.map((mark) => titleOf(mark)).slice(0, 20).join('; ')
  return (
    <div className={styles.lane}>
      <span className={styles.stream} title={lane.stream}>{lane.stream}</span>
      <div className={styles.row}>
        <span role="img" aria-label={`${lane.stream}: ${words}`} className={styles.whole} />
        {lane.gaps.filter((gap) => gap.width > GAP_WITH_TEXT).map((gap) => (
          <span key={`gap ${gap.from}`} aria-hidden="true" className={styles.gap} style={placed(gap)} title={exactly(gap.ns, 'time')}><span>{time(gap.ns)}</span></span>
        ))}
        {lane.marks.map((mark) => <Mark key={mark.from} mark={mark} {...(sliceAddress ? { sliceAddress } : {})} />)}
      </div>
    </div>
  )
}

/** The table below says the same for the keyboard, so marks are only for the pointer. */
function Mark({ mark, sliceAddress }: { mark: StripMark; sliceAddress?: (slice: number) => string }) {
  const look = { className: `${styles.mark} striped`, style: placed(mark), title: titleOf(mark), 'aria-hidden': true }
  const text = mark.width > MARK_WITH_TIME && <span className={styles.markName}>{mark.width > MARK_WITH_NAME ? `${mark.name} ${time(mark.ns)}` : time(mark.ns)}</span>
  if (mark.slice === null || !sliceAddress) return <span {...look}>{text}</span>
  return <Link href={sliceAddress(mark.slice)} tabIndex={-1} data-slice={mark.slice} {...look}>{text}</Link>
}

function titleOf(mark: StripMark): string {
  return `${mark.name}${mark.count > 1 ? ` × ${mark.count}` : ''}: ${exactly(mark.ns, 'time')}`
}

export function placed({ from, width }: { from: number; width: number }): { left: string; width: string } {
  return { left: `${from * 100}%`, width: `${width * 100}%` }
}
