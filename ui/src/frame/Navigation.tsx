import { Tooltip } from '@mantine/core'
import { Link } from 'wouter'
import { FoldIcon, type Icon, RunsIcon, UnfoldIcon } from '../components/icons'
import { usePageAddress, usePlace } from '../state/address'
import { useTexts } from '../state/language'
import { PAGES } from '../views/pages'
import styles from './Navigation.module.css'

interface NavigationProps {
  readonly folded: boolean
  readonly onFold?: () => void
  readonly onGo?: () => void
}

/** Runs, and the pages of the run that is open. */
export function Navigation({ folded, onFold, onGo }: NavigationProps) {
  const texts = useTexts()
  const { run, page } = usePlace()
  const address = usePageAddress()
  const go = onGo ? { onGo } : {}
  return (
    <div className={styles.navigation} data-folded={folded}>
      <Link href="/" className={styles.brand} aria-label={`laptime: ${texts.frame.runs}`}>
        <img src="/static/icon.svg" alt="" width={32} height={32} />
        {!folded && <span>laptime</span>}
      </Link>
      <ul className={styles.list}>
        <Entry icon={RunsIcon} label={texts.frame.runs} href="/" current={run === null} folded={folded} {...go} apart={run !== null} />
        {run !== null && PAGES.map(({ name, icon }) => (
          <Entry key={name} icon={icon} label={texts[name].title} href={address(run, name)} current={name === page} folded={folded} {...go} />
        ))}
      </ul>
      {onFold && (
        <button type="button" className={styles.fold} onClick={onFold} aria-label={folded ? texts.frame.unfold : texts.frame.fold} aria-expanded={!folded}>
          {folded ? <UnfoldIcon /> : <FoldIcon />}
        </button>
      )}
    </div>
  )
}

interface EntryProps {
  readonly icon: Icon
  readonly label: string
  readonly href: string
  readonly current: boolean
  readonly folded: boolean
  readonly onGo?: () => void
  /** With a line below. */
  readonly apart?: boolean
}

function Entry({ icon: Picture, label, href, current, folded, onGo, apart = false }: EntryProps) {
  return (
    <li className={apart ? styles.apart : undefined}>
      <Tooltip label={label} position="right" disabled={!folded}>
        <Link href={href} className={styles.entry} aria-current={current ? 'page' : undefined} aria-label={folded ? label : undefined} {...(onGo ? { onClick: onGo } : {})}>
          <Picture />
          {!folded && <span>{label}</span>}
        </Link>
      </Tooltip>
    </li>
  )
}
