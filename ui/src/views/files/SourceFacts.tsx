import type { ReactNode } from 'react'
import type { Source } from '../../api/shapes'
import { date } from '../../lib/dates'
import { bytes, count, exact } from '../../lib/units'
import { useLanguage, useTexts } from '../../state/language'
import type { Texts } from '../../texts/catalogues'
import styles from './Files.module.css'

/** What was dropped of a recording, and what it tells of itself. */
export function SourceFacts({ source }: { source: Source }) {
  const { files: texts } = useTexts()
  const { language } = useLanguage()
  const dropped = Object.entries(source.events.dropped).filter(([, times]) => times > 0)
  const facts: [string, ReactNode][] = Object.entries(source.facts).map(([name, value]) => [texts.factNames[name] ?? name, factText(name, value, texts)])
  return (
    <div className={styles.about}>
      <div>
        <h3>{texts.dropped}</h3>
        {dropped.length === 0 ? <p className={styles.plain}>{texts.noneDropped}</p> : <FactList facts={dropped.map(([reason, times]) => [texts.reasons[reason] ?? reason, count(times)])} />}
      </div>
      <div>
        <h3>{texts.facts}</h3>
        <FactList facts={[...(source.framework === null ? [] : [[texts.factNames.framework, source.framework] as [string, ReactNode]]), ...facts, [texts.clock, clockText(source.clock, texts, language)]]} />
      </div>
    </div>
  )
}

function FactList({ facts }: { facts: readonly (readonly [string, ReactNode])[] }) {
  return <dl className={styles.facts}>{facts.map(([name, value]) => <div key={name} style={{ display: 'contents' }}><dt>{name}</dt><dd className="numbers">{value}</dd></div>)}</dl>
}

function factText(name: string, value: unknown, texts: Texts['files']): string {
  if (typeof value === 'boolean') return value ? texts.yes : texts.no
  if (typeof value !== 'object' || value === null) return String(value)
  const read = (each: unknown) => (name === 'device_memory_bytes' && typeof each === 'number' ? bytes(each) : factText('', each, texts))
  return Object.entries(value).map(([key, each]) => `${key}: ${read(each)}`).join(', ')
}

/** Wall time of the tables' 0; what the file counts from where it tells no wall time. */
function clockText(clock: Source['clock'], texts: Texts['files'], language: string): string {
  const { base_unix_ns: base, origin_ns: origin } = clock
  if (origin === null) return '–'
  return base === null ? `${exact(origin, 'ns')} ${texts.clockOwn}` : date((base + origin) / 1e9, language)
}
