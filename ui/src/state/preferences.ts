/** What a person chooses once and keeps: language, folded panels. Kept in the browser. */
import { localStorageColorSchemeManager } from '@mantine/core'

export const schemes = localStorageColorSchemeManager({ key: 'laptime-theme' })

export type Language = 'en' | 'zh'

export const LANGUAGES: readonly Language[] = ['en', 'zh']

/** What was kept under a name; null where nothing was, or storage is forbidden. */
export function kept(name: string): string | null {
  try {
    return localStorage.getItem(`laptime-${name}`)
  } catch {
    return null
  }
}

export function keep(name: string, value: string): void {
  try {
    localStorage.setItem(`laptime-${name}`, value)
  } catch {
    // A browser that stores nothing: the choice holds until the page is left.
  }
}

/** The language of the address, else the chosen one, else the browser's. */
export function firstLanguage(search: string): Language {
  const wanted = new URLSearchParams(search).get('lang') ?? kept('language') ?? navigator.language
  return wanted.toLowerCase().startsWith('zh') ? 'zh' : 'en'
}
