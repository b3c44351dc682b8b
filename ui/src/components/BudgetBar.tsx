import { type Budget, type BudgetPart, budgetParts, idleCauses } from '../lib/budget'
import { kindVariable } from '../lib/colours'
import { share, time } from '../lib/units'
import { useTexts } from '../state/language'
import styles from './BudgetBar.module.css'
import { Exact } from './Exact'
import { Explained } from './Explained'

/** Where a step's time goes: four parts to scale, idle by cause below, and what each part took. */
export function BudgetBar({ budget, label }: { budget: Budget; label: string }) {
  const parts = budgetParts(budget)
  const causes = idleCauses(budget).filter((cause) => cause.ns > 0)
  const before = parts.filter((part) => part.term !== 'idle').reduce((sum, part) => sum + part.share, 0)
  return (
    <div>
      <Bar parts={parts} label={label} />
      {causes.length > 0 && budget.idle_ns > 0 && <Causes causes={causes} offset={before} />}
      <ul className={styles.legend}>
        {parts.map((part) => <Entry key={part.term} part={part} />)}
        {causes.map((part) => <Entry key={part.term} part={part} of="idle" />)}
      </ul>
    </div>
  )
}

function Bar({ parts, label }: { parts: readonly BudgetPart[]; label: string }) {
  const { terms } = useTexts()
  const words = parts.map((part) => `${terms[part.term].name} ${share(part.share)}`).join(', ')
  return (
    <div className={styles.bar} role="img" aria-label={`${label}: ${words}`}>
      {parts.filter((part) => part.ns > 0).map((part) => <Segment key={part.term} part={part} />)}
    </div>
  )
}

function Segment({ part }: { part: BudgetPart }) {
  const { name } = useTexts().terms[part.term]
  return (
    <span className={`${styles.segment} ${part.pattern}`} style={{ width: `${part.share * 100}%`, backgroundColor: kindVariable(part.kind) }} title={`${name}: ${time(part.ns)}, ${share(part.share)}`}>
      {part.share > 0.09 && <span className={styles.name} style={{ backgroundColor: kindVariable(part.kind) }}>{part.share > 0.2 ? `${name} ${share(part.share)}` : share(part.share)}</span>}
    </span>
  )
}

/** Idle again under its part of the bar, by cause. */
function Causes({ causes, offset }: { causes: readonly BudgetPart[]; offset: number }) {
  return (
    <div className={styles.causes} style={{ marginLeft: `${offset * 100}%` }} aria-hidden="true">
      {causes.map((part) => (
        <span key={part.term} className={part.pattern} style={{ flexGrow: part.share * 1000, flexBasis: 0, backgroundColor: kindVariable(part.kind) }} />
      ))}
    </div>
  )
}

function Entry({ part, of }: { part: BudgetPart; of?: 'idle' }) {
  return (
    <li className={of ? styles.cause : undefined}>
      <span className={`${styles.swatch} ${part.pattern}`} style={{ backgroundColor: kindVariable(part.kind) }} aria-hidden="true" />
      <Explained term={part.term} />
      <Exact value={part.ns} as="time" className={styles.number ?? ''} />
      <span className={`numbers ${styles.share}`}>{share(part.share)}</span>
    </li>
  )
}
