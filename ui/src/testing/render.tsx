import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { render } from '@testing-library/react'
import type { ReactNode } from 'react'
import { Router } from 'wouter'
import { memoryLocation } from 'wouter/memory-location'
import { newQueries } from '../api/client'
import { LanguageProvider } from '../state/language'
import type { Language } from '../state/preferences'
import { theme } from '../theme/theme'

/** Shows something as a page does, at an address; gives back where one is. */
export function show(what: ReactNode, { language = 'en', path = '/' }: { language?: Language; path?: string } = {}) {
  const place = memoryLocation({ path, record: true })
  const shown = render(
    <MantineProvider theme={theme} env="test">
      <QueryClientProvider client={newQueries()}>
        <LanguageProvider first={language}>
          <Router hook={place.hook} searchHook={place.searchHook}>{what}</Router>
        </LanguageProvider>
      </QueryClientProvider>
    </MantineProvider>,
  )
  return { ...shown, places: place.history }
}
