import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react'
import { CATALOGUES, type Texts } from '../texts/catalogues'
import { firstLanguage, keep, type Language } from './preferences'

interface Spoken {
  readonly language: Language
  readonly speak: (language: Language) => void
}

const SpokenContext = createContext<Spoken>({ language: 'en', speak: () => undefined })

export function LanguageProvider({ children, first }: { children: ReactNode; first?: Language }) {
  const [language, setLanguage] = useState(() => first ?? firstLanguage(location.search))
  useEffect(() => {
    document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en'
  }, [language])
  const spoken = useMemo(() => ({ language, speak: (chosen: Language) => { keep('language', chosen); setLanguage(chosen) } }), [language])
  return <SpokenContext value={spoken}>{children}</SpokenContext>
}

export function useLanguage(): Spoken {
  return useContext(SpokenContext)
}

/** All texts in the language of the page: `const { runs } = useTexts()`. */
export function useTexts(): Texts {
  return CATALOGUES[useContext(SpokenContext).language]
}
