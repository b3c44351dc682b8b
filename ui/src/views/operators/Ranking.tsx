import { kindVariable, SERIES } from '../../lib/colours'
import { share, time } from '../../lib/units'
import type { OperatorRow } from '../../api/shapes'
import { useTexts } from '../../state/language'
import { fullName, hasShapes, kindOf, type Ranked, shapesOf, type Side } from './model'
import styles from './Operators.module.css'

interface RankingProps {
  readonly entries: readonly Ranked[]
  readonly side: Side
  readonly label: string
  readonly onOpen: (row: OperatorRow) => void
  /** Colours that the pie gives its slices; without them each has a bar. */
  readonly colours?: readonly string[]
}

/** The largest operators as a list: a bar for each, or the colour of its slice in the pie. Each opens its details. */
export function Ranking({ entries, side, label, onOpen, colours }: RankingProps) {
  const longest = longestOf(entries)
  return (
    <ol className={colours ? styles.legend : styles.ranking} aria-label={label}>
      {entries.map((entry, at) => (
        <li key={entry.row === null ? 'other' : at}>
          <Line entry={entry} side={side} at={at} longest={longest} onOpen={onOpen} colour={colours?.[at]} />
        </li>
      ))}
    </ol>
  )
}

/** Share that fills a bar: the largest row's, for all others together may be so much that nothing else is seen. */
function longestOf(entries: readonly Ranked[]): number {
  const rows = entries.filter(({ row }) => row !== null)
  return Math.max(...(rows.length > 0 ? rows : entries).map(({ share }) => share))
}

interface LineProps {
  readonly entry: Ranked
  readonly side: Side
  readonly at: number
  readonly longest: number
  readonly onOpen: (row: OperatorRow) => void
  readonly colour: string | undefined
}

function Line({ entry, side, at, longest, onOpen, colour }: LineProps) {
  const { operators: texts } = useTexts()
  const { row } = entry
  const content = (
    <>
      <span className={styles.place} aria-hidden="true">{row === null ? '' : at + 1}</span>
      {colour !== undefined && <span className={styles.swatch} style={{ background: colour }} aria-hidden="true" />}
      <span className={styles.entryName} title={row === null ? undefined : fullName(row)}>
        {row === null ? texts.others(entry.rows) : row.name}
        {row !== null && hasShapes(row) && <small>{shapesOf(row)}</small>}
      </span>
      {colour === undefined && <Bar entry={entry} side={side} longest={longest} />}
      <span className={`numbers ${styles.entryShare}`}>{share(entry.share)}</span>
      <span className={`numbers ${styles.entryTime}`}>{time(entry.self_ns)}</span>
    </>
  )
  if (row === null) return <span className={styles.entry}>{content}</span>
  return <button type="button" className={styles.entry} onClick={() => onOpen(row)}>{content}</button>
}

function Bar({ entry, side, longest }: { entry: Ranked; side: Side; longest: number }) {
  const kind = entry.row === null ? 'idle' : kindOf(entry.row, side)
  const width = Math.min(100, (100 * entry.share) / longest)
  return (
    <span className={styles.track} aria-hidden="true">
      <span className={`${styles.bar} ${entry.row === null ? 'hatched' : ''}`} data-broken={entry.share > longest} style={{ width: `${width}%`, backgroundColor: kindVariable(kind) }} />
    </span>
  )
}

/** A colour for each slice: those of the series, then the same again, paler; grey for all others. */
export function sliceColours(entries: readonly Ranked[], scheme: 'light' | 'dark', grey: string): string[] {
  const series = SERIES[scheme]
  return entries.map((entry, at) => (entry.row === null ? grey : at < series.length ? series[at]! : `${series[at % series.length]}99`))
}
