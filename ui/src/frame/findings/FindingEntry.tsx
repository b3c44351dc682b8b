import { Anchor, Badge } from '@mantine/core'
import { useId, useState } from 'react'
import { Link } from 'wouter'
import type { Finding } from '../../api/shapes'
import { CodeLine } from '../../components/CodeLine'
import { DownIcon, UnfoldIcon } from '../../components/icons'
import { type Kind, kindVariable } from '../../lib/colours'
import { evidenceText } from '../../lib/evidence'
import { lightUp } from '../../lib/lighting'
import { share, time } from '../../lib/units'
import { usePlace } from '../../state/address'
import { useWholeReport } from '../../state/report'
import { useSliceAddress } from '../../state/slices'
import { useTexts } from '../../state/language'
import { useSaved } from '../../state/saved'
import styles from './Findings.module.css'

const COLOURS: Record<Finding['severity'], Kind> = { high: 'sync', medium: 'communication', low: 'idle', info: 'scope' }
const MOST_SLICES = 6

/** A finding: its saving, and unfolded its evidence, where it is, and what to do. */
export function FindingEntry({ finding, first }: { finding: Finding; first: boolean }) {
  const { findings: texts } = useTexts()
  const [open, setOpen] = useState(first)
  const id = useId()
  return (
    <article className={styles.finding} data-severity={finding.severity} onMouseEnter={() => lightUp(finding.cause)} onMouseLeave={() => lightUp(null)}>
      <h3 className={styles.name}>
        <button type="button" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
          {open ? <DownIcon size={16} /> : <UnfoldIcon size={16} />}
          <span>{finding.title}</span>
        </button>
      </h3>
      <p className={styles.saving}>
        <Badge size="sm" radius="sm" tt="none" variant="filled" style={{ backgroundColor: kindVariable(COLOURS[finding.severity]), color: 'var(--on-kind)' }}>{texts.severity[finding.severity]}</Badge>
        {finding.saving_ns_per_step !== null && finding.saving_ns_per_step > 0 && <span>{texts.saving(time(finding.saving_ns_per_step), share(finding.saving_share))}</span>}
      </p>
      <div id={id} hidden={!open}>{open && <Details finding={finding} />}</div>
    </article>
  )
}

function Details({ finding }: { finding: Finding }) {
  const { findings: texts } = useTexts()
  const address = useSliceAddress()
  const { run } = usePlace()
  const { data: report } = useWholeReport(run ?? '', run !== null)
  const { where } = finding
  return (
    <div className={styles.details}>
      <h4>{texts.evidence}</h4>
      <dl className="numbers">
        {finding.evidence.map(({ name, value, unit }) => (
          <div key={name}><dt>{name}</dt><dd>{evidenceText(value, unit)}</dd></div>
        ))}
      </dl>
      {finding.slices.length > 0 && (
        <p className={styles.slices}>
          <span>{texts.slices}: </span>
          {finding.slices.slice(0, MOST_SLICES).map(({ rank_index, slice_id }) => (
            <SliceName key={slice_id} name={texts.slice(slice_id)} address={address(slice_id, report?.ranks[rank_index]?.rank ?? finding.rank)} />
          ))}
        </p>
      )}
      {where !== null && (where.file ?? where.module) !== null && (
        <>
          <h4>{texts.where}</h4>
          <CodeLine code={[where.file === null ? where.module : `${where.file}${where.line === null ? '' : `:${where.line}`}`, where.function].filter(Boolean).join('  ')} />
        </>
      )}
      <h4>{texts.fix}</h4>
      <p className={styles.fix}>{finding.fix}</p>
    </div>
  )
}

/** A slice by its number; it opens beside the page where there is a server to ask. */
function SliceName({ name, address }: { name: string; address: string }) {
  return useSaved() ? <span>{name}</span> : <Anchor component={Link} size="sm" href={address}>{name}</Anchor>
}
