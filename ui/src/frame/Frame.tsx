import { AppShell, Drawer } from '@mantine/core'
import { useDisclosure, useMediaQuery } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { useState } from 'react'
import { usePlace } from '../state/address'
import { useTexts } from '../state/language'
import { keep, kept } from '../state/preferences'
import { usePhone } from '../state/screen'
import { Offline } from './Offline'
import { Findings } from './findings/Findings'
import { useFindings } from '../state/findings'
import styles from './Frame.module.css'
import { Header } from './Header'
import { KeyHelp } from './KeyHelp'
import { Navigation } from './Navigation'
import { RunControls } from './RunControls'
import { useKeys } from './useKeys'

const WIDE = '(min-width: 1500px)'
const DESK = '(min-width: 1200px)'

/** What stands around every page: navigation at the left, header above, findings at the right. */
export function Frame({ children }: { children: ReactNode }) {
  const { frame, findings: texts } = useTexts()
  const { run } = usePlace()
  const desk = useMediaQuery(DESK, true, { getInitialValueInEffect: false })
  const wide = useMediaQuery(WIDE, true, { getInitialValueInEffect: false })
  const phone = usePhone()
  const [folded, fold] = useKept('navigation', !wide)
  const [unwanted, refuse] = useKept('findings', false)
  const [help, { open: openHelp, close: closeHelp }] = useDisclosure(false)
  const [menu, { open: openMenu, close: closeMenu }] = useDisclosure(false)
  const [drawer, { close: closeDrawer, toggle: toggleDrawer }] = useDisclosure(false)
  const found = useFindings(run)
  const beside = desk && found.offered && !unwanted
  const toggleFindings = () => (desk ? refuse(!unwanted) : toggleDrawer())
  useKeys({ help: openHelp, navigation: () => fold(!folded), findings: toggleFindings })

  return (
    <AppShell
      layout="alt"
      padding={0}
      header={{ height: 56 }}
      navbar={{ width: folded ? 64 : 216, breakpoint: 768, collapsed: { mobile: true } }}
      aside={{ width: 336, breakpoint: 1200, collapsed: { mobile: true, desktop: !beside } }}
      transitionDuration={120}
    >
      <a className="skip-link" href="#content">{frame.skip}</a>
      <AppShell.Header className={styles.header}>
        <Header findings={found} findingsShown={beside} onFindings={toggleFindings} onHelp={openHelp} onMenu={openMenu} phone={phone} />
      </AppShell.Header>
      <AppShell.Navbar className={styles.navbar} aria-label={frame.navigation}>
        <Navigation folded={folded} onFold={() => fold(!folded)} />
      </AppShell.Navbar>
      <AppShell.Main className={styles.main} id="content" tabIndex={-1}>
        <Offline />
        {run !== null && phone && <div className={styles.phoneControls}><RunControls run={run} /></div>}
        {children}
      </AppShell.Main>
      <AppShell.Aside className={styles.aside} aria-label={texts.title}>
        {beside && <Findings found={found} onFold={toggleFindings} />}
      </AppShell.Aside>
      <Drawer opened={menu} onClose={closeMenu} size={260} title="laptime" closeButtonProps={{ 'aria-label': frame.close }}>
        <Navigation folded={false} onGo={closeMenu} />
      </Drawer>
      <Drawer opened={drawer && !desk} onClose={closeDrawer} position="right" size={360} title={texts.title} closeButtonProps={{ 'aria-label': frame.close }}>
        <Findings found={found} />
      </Drawer>
      <KeyHelp opened={help} onClose={closeHelp} />
    </AppShell>
  )
}

/** Whether a panel is folded: as chosen before, else as fits. */
function useKept(name: string, first: boolean): [boolean, (folded: boolean) => void] {
  const [chosen, setChosen] = useState<boolean | null>(() => {
    const before = kept(name)
    return before === null ? null : before === 'folded'
  })
  const choose = (folded: boolean) => {
    keep(name, folded ? 'folded' : 'open')
    setChosen(folded)
  }
  return [chosen ?? first, choose]
}
