import { kindVariable } from '../lib/colours'
import { type StripEvent, stripLanes, stripParts, type StripStep } from '../lib/strip'
import { exactly, time } from '../lib/units'
import { useTexts } from '../state/language'
import { Exact } from './Exact'
import { Explained } from './Explained'
import { placed, StepLane } from './StepLane'
import styles from './StepStrip.module.css'

export interface StepStripProps {
  readonly label: string
  readonly step: StripStep
  readonly communication?: readonly StripEvent[]
  /** When the step begins (the end of the one before), on the clock of the communication. */
  readonly origin_ns?: number
  /** Makes marks of communication links to their slices. */
  readonly sliceAddress?: (slice: number) => string
}

/** A step drawn to scale: interval, forward and backward, tail; below a lane for each communication stream. */
export function StepStrip({ label, step, communication = [], origin_ns = 0, sliceAddress }: StepStripProps) {
  const { terms, frame } = useTexts()
  const parts = stripParts(step)
  const total = step.total_ns ?? 0
  const lanes = total > 0 ? stripLanes(communication, origin_ns, total) : []
  const words = parts.map((part) => `${terms[part.term].name} ${time(part.ns)}`).join(', ')
  return (
    <div>
      <div role="img" aria-label={`${label}: ${time(step.total_ns)}; ${words}`}>
        <div className={styles.lane}>
          <span className={styles.stream} />
          <div className={styles.measure}><span title={exactly(step.total_ns, 'time')}>{time(step.total_ns)}</span></div>
        </div>
        <div className={styles.lane}>
          <span className={styles.stream}>{terms.step.name}</span>
          <div className={`${styles.row} ${styles.parts}`}>
            {parts.length === 0 && total > 0 && <span className={styles.part} style={{ left: 0, width: '100%', backgroundColor: kindVariable('scope') }} />}
            {parts.map((part) => (
              <span key={part.term} className={`${styles.part} ${part.term === 'interval' ? 'hatched' : ''}`} style={{ ...placed(part), backgroundColor: kindVariable(part.kind) }} title={`${terms[part.term].name}: ${exactly(part.ns, 'time')}`}>
                {part.width > 0.12 && <span className={styles.partName} style={{ backgroundColor: kindVariable(part.kind) }}>{part.width > 0.26 ? `${terms[part.term].name} ${time(part.ns)}` : time(part.ns)}</span>}
              </span>
            ))}
          </div>
        </div>
      </div>
      {lanes.map((lane) => <StepLane key={lane.stream} lane={lane} {...(sliceAddress ? { sliceAddress } : {})} />)}
      {parts.length === 0 && <p className={styles.unknown}>{frame.partsUnknown}</p>}
      <ul className={styles.legend}>
        {parts.map((part) => (
          <li key={part.term}>
            <span className={`${styles.swatch} ${part.term === 'interval' ? 'hatched' : ''}`} style={{ backgroundColor: kindVariable(part.kind) }} aria-hidden="true" />
            <Explained term={part.term} /> <Exact value={part.ns} as="time" className={styles.value ?? ''} />
          </li>
        ))}
      </ul>
    </div>
  )
}
