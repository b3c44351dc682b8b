import { ActionIcon, Menu, type MantineColorScheme, Tooltip, useMantineColorScheme } from '@mantine/core'
import { AutoIcon, HelpIcon, LanguageIcon, MoonIcon, SunIcon } from '../components/icons'
import { useLanguage, useTexts } from '../state/language'
import { LANGUAGES, type Language } from '../state/preferences'
import { useParam } from '../state/address'

const THEME_ICONS = { auto: AutoIcon, light: SunIcon, dark: MoonIcon }
const NAMES: Record<Language, string> = { en: 'English', zh: '中文' }

/** Colours, language, help. */
export function Switches({ onHelp, phone }: { onHelp: () => void; phone: boolean }) {
  const { frame } = useTexts()
  return (
    <>
      <ThemeSwitch />
      <LanguageSwitch />
      {!phone && (
        <Tooltip label={`${frame.help} (?)`}>
          <ActionIcon variant="subtle" color="gray" size="lg" onClick={onHelp} aria-label={frame.help}><HelpIcon /></ActionIcon>
        </Tooltip>
      )}
    </>
  )
}

function ThemeSwitch() {
  const { frame } = useTexts()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const Picture = THEME_ICONS[colorScheme]
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={`${frame.theme}: ${frame.themes[colorScheme]}`}><Picture /></ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {(Object.keys(THEME_ICONS) as MantineColorScheme[]).map((scheme) => (
          <Menu.Item key={scheme} fw={scheme === colorScheme ? 650 : 400} onClick={() => setColorScheme(scheme)}>{frame.themes[scheme]}</Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

function LanguageSwitch() {
  const { frame } = useTexts()
  const { language, speak } = useLanguage()
  const [inAddress, setInAddress] = useParam('lang')
  const choose = (chosen: Language) => {
    speak(chosen)
    if (inAddress !== null) setInAddress(chosen)
  }
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={`${frame.language}: ${NAMES[language]}`}><LanguageIcon /></ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {LANGUAGES.map((each) => (
          <Menu.Item key={each} lang={each} fw={each === language ? 650 : 400} onClick={() => choose(each)}>{NAMES[each]}</Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
