import { saved } from './answers'
import '@mantine/core/styles.css'
import '../theme/global.css'
import './print.css'
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { setNonce } from 'get-nonce'
import { createRoot } from 'react-dom/client'
import { Router } from 'wouter'
import { memoryLocation } from 'wouter/memory-location'
import { newQueries } from '../api/client'
import { LanguageProvider } from '../state/language'
import { SavedContext } from '../state/saved'
import { cssVariables, theme } from '../theme/theme'
import { RUN, savedSteps } from './asked'
import { keepPaperLight } from './paper'
import { Report } from './Report'

const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? ''
setNonce(nonce)
keepPaperLight()

const steps = savedSteps(saved.answers)
const { hook, searchHook } = memoryLocation({ path: `/runs/${RUN}/report`, searchPath: steps === null ? '' : `steps=${encodeURIComponent(steps)}` })

createRoot(document.getElementById('root')!).render(
  <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto" getStyleNonce={() => nonce}>
    <QueryClientProvider client={newQueries()}>
      <LanguageProvider first={saved.language === 'zh' ? 'zh' : 'en'}>
        <SavedContext value={true}>
          <Router hook={hook} searchHook={searchHook}>
            <Report run={RUN} version={saved.version} />
          </Router>
        </SavedContext>
      </LanguageProvider>
    </QueryClientProvider>
  </MantineProvider>,
)
