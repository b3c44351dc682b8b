import '@mantine/core/styles.css'
import './theme/global.css'
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { setNonce } from 'get-nonce'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { newQueries } from './api/client'
import { App } from './frame/App'
import { LanguageProvider } from './state/language'
import { schemes } from './state/preferences'
import { cssVariables, theme } from './theme/theme'

// The content policy lets styles in that carry the nonce of this page.
const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? ''
setNonce(nonce)

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto" colorSchemeManager={schemes} getStyleNonce={() => nonce}>
      <QueryClientProvider client={newQueries()}>
        <LanguageProvider>
          <App />
        </LanguageProvider>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
