import { ActionIcon, Anchor, Indicator, Tooltip } from '@mantine/core'
import { Link } from 'wouter'
import { FindingsIcon, MenuIcon } from '../components/icons'
import { usePlace } from '../state/address'
import { useTexts } from '../state/language'
import { useRunList } from '../state/runs'
import { PAGES } from '../views/pages'
import type { Found } from '../state/findings'
import styles from './Frame.module.css'
import { RunControls } from './RunControls'
import { Switches } from './Switches'

interface HeaderProps {
  readonly findings: Found
  readonly findingsShown: boolean
  readonly onFindings: () => void
  readonly onHelp: () => void
  readonly onMenu: () => void
  readonly phone: boolean
}

/** Where one is, what is chosen, and the switches. */
export function Header({ findings, findingsShown, onFindings, onHelp, onMenu, phone }: HeaderProps) {
  const { frame, findings: texts } = useTexts()
  const { run } = usePlace()
  return (
    <div className={styles.bar}>
      {phone && <ActionIcon variant="subtle" color="gray" size="lg" onClick={onMenu} aria-label={frame.openNavigation}><MenuIcon /></ActionIcon>}
      <Where />
      {run !== null && !phone && <RunControls run={run} />}
      <div className={styles.switches}>
        <Switches onHelp={onHelp} phone={phone} />
        {run !== null && (
          <Tooltip label={findings.offered ? (findingsShown ? texts.fold : texts.unfold) : texts.notOffered}>
            <Indicator label={findings.findings.length} size={16} disabled={findings.findings.length === 0} offset={4}>
              <ActionIcon variant={findingsShown ? 'light' : 'subtle'} color={findingsShown ? 'lap' : 'gray'} size="lg" onClick={onFindings} aria-disabled={!findings.offered} aria-pressed={findingsShown} aria-label={texts.title}>
                <FindingsIcon />
              </ActionIcon>
            </Indicator>
          </Tooltip>
        )}
      </div>
    </div>
  )
}

function Where() {
  const texts = useTexts()
  const { run, page } = usePlace()
  const { data } = useRunList()
  const title = PAGES.find(({ name }) => name === page)?.name
  if (run === null) return <div className={styles.where}><span aria-current="page">{texts.frame.runs}</span></div>
  const name = data?.runs.find((each) => each.run === run)?.name ?? run
  return (
    <div className={styles.where}>
      <Anchor component={Link} href="/" c="dimmed" inherit title={texts.frame.toRuns}>{name}</Anchor>
      <span className={styles.separator} aria-hidden="true">›</span>
      <span aria-current="page">{title ? texts[title].title : page}</span>
    </div>
  )
}
