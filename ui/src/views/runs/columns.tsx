import type { Run } from '../../api/shapes'
import type { Column } from '../../components/table/column'
import { causeKind } from '../../lib/causes'
import { kindVariable } from '../../lib/colours'
import { ago, date } from '../../lib/dates'
import { exact, share, time } from '../../lib/units'
import { Sparkline } from '../../components/Sparkline'
import type { Language } from '../../state/preferences'
import type { Texts } from '../../texts/catalogues'
import { NameCell } from './NameCell'
import styles from './Runs.module.css'
import { StatusCell } from './StatusCell'

/** What fits beside each other there; the state stands below the name. */
const ON_PHONE = ['name', 'step_time', 'cause']

export function runColumns(texts: Texts['runs'], language: Language, address: (run: Run) => string, phone: boolean): Column<Run>[] {
  const names = texts.columns
  const all: Column<Run>[] = [
    { id: 'name', label: names.name, least: 120, value: (run) => [run.name, run.path, run.format, ...(phone ? [run.framework, run.device] : [])].filter(Boolean).join(' '), cell: (run) => <NameCell run={run} href={address(run)} withState={phone} /> },
    { id: 'status', label: names.status, width: 108, value: (run) => texts.status[run.status], cell: (run) => <StatusCell run={run} /> },
    { id: 'framework', label: names.framework, width: 156, value: (run) => [run.framework, run.device].filter(Boolean).join(' '), cell: (run) => <Two upper={run.framework} lower={run.device} /> },
    { id: 'ranks', label: names.ranks, width: 76, as: 'count', value: (run) => rankCount(run) },
    { id: 'steps', label: names.steps, width: 76, as: 'count', value: (run) => run.steps },
    { id: 'step_time', label: names.stepTime, width: phone ? 84 : 164, as: 'time', value: (run) => run.step_mean_ns, cell: (run) => <StepTime run={run} texts={texts} /> },
    { id: 'cause', label: names.cause, width: phone ? 130 : 188, value: (run) => causeName(run, texts), cell: (run) => <Cause run={run} texts={texts} /> },
    { id: 'updated', label: names.updated, width: 108, as: 'number', value: (run) => run.updated_unix, cell: (run) => (run.updated_unix === null ? '–' : <span title={date(run.updated_unix, language)}>{ago(run.updated_unix, Date.now() / 1000, texts.ago, language)}</span>) },
    { id: 'size', label: names.size, width: 100, as: 'bytes', value: (run) => run.size_bytes },
  ]
  return phone ? all.filter(({ id }) => ON_PHONE.includes(id)) : all
}

function causeName(run: Run, texts: Texts['runs']): string | null {
  const part = run.biggest_cause?.part
  return part === undefined ? null : (texts.cause[part as keyof typeof texts.cause] ?? part)
}

function rankCount(run: Run): number | null {
  return run.ranks.length > 0 ? run.ranks.length : null
}

function Two({ upper, lower }: { upper: string | null; lower: string | null }) {
  return (
    <span className={styles.two}>
      <span title={upper ?? undefined}>{upper ?? '–'}</span>
      {lower !== null && <small title={lower}>{lower}</small>}
    </span>
  )
}

function StepTime({ run, texts }: { run: Run; texts: Texts['runs'] }) {
  const label = run.step_ns.length > 1 ? texts.trend(run.step_ns.length, time(Math.min(...run.step_ns)), time(Math.max(...run.step_ns))) : ''
  return (
    <span className={`numbers ${styles.stepTime}`}>
      <Sparkline values={run.step_ns} label={label} />
      <span title={run.step_mean_ns === null ? undefined : exact(run.step_mean_ns, 'ns')}>{time(run.step_mean_ns)}</span>
    </span>
  )
}

function Cause({ run, texts }: { run: Run; texts: Texts['runs'] }) {
  const cause = run.biggest_cause
  if (!cause) return '–'
  return (
    <span className={styles.cause}>
      <span className={styles.dot} style={{ backgroundColor: kindVariable(causeKind(cause.part)) }} aria-hidden="true" />
      <Two upper={causeName(run, texts)} lower={texts.ofStep(share(cause.share))} />
    </span>
  )
}
