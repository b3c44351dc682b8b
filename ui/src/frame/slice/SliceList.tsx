import { Link } from 'wouter'
import type { LinkedSlice, SliceReference } from '../../api/shapes'
import { Exact } from '../../components/Exact'
import { kindOfSlice, kindVariable } from '../../lib/colours'
import { time } from '../../lib/units'
import { useSliceAddress } from '../../state/slices'
import { useTexts } from '../../state/language'
import styles from './Slice.module.css'

interface SliceListProps<Listed> {
  readonly title: string
  readonly slices: readonly Listed[]
  readonly leftOut?: number
}

/** Slices that another one names; each opens in its place. */
export function SliceList({ title, slices, leftOut = 0 }: SliceListProps<SliceReference>) {
  return <List title={title} slices={slices} leftOut={leftOut} note={() => null} />
}

/** The same with the link that binds them, and the time between. */
export function LinkedSlices({ title, slices, leftOut = 0 }: SliceListProps<LinkedSlice>) {
  const { slice: texts } = useTexts()
  return <List title={title} slices={slices} leftOut={leftOut} note={(each) => texts.link(texts.links[each.link as keyof typeof texts.links] ?? each.link, time(each.gap_ns))} />
}

function List<Listed extends SliceReference>({ title, slices, leftOut, note }: Required<SliceListProps<Listed>> & { note: (slice: Listed) => string | null }) {
  const { slice: texts } = useTexts()
  const address = useSliceAddress()
  if (slices.length === 0) return null
  return (
    <section>
      <h3 className={styles.title}>{title}</h3>
      <ul className={styles.list}>
        {slices.map((slice) => (
          <li key={slice.slice_id}>
            <span className={styles.kind} style={{ backgroundColor: kindVariable(kindOfSlice(slice.kind)) }} title={slice.kind} />
            <Link href={address(slice.slice_id)} className={styles.link} title={slice.name}>{slice.name}</Link>
            <Exact value={slice.dur_ns} as="time" />
            <small>{[slice.kind, slice.track, note(slice)].filter(Boolean).join(' · ')}</small>
          </li>
        ))}
      </ul>
      {leftOut > 0 && <p className={styles.more}>{texts.leftOut(leftOut)}</p>}
    </section>
  )
}
