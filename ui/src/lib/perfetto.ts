/** Opens a trace in Perfetto: a tab of its own, asked whether it is there until it answers, then given the data. */

export const PERFETTO = 'https://ui.perfetto.dev'

const ASK_EVERY_MS = 100
const PATIENCE_MS = 60_000

export type Handed = 'opened' | 'blocked' | 'silent'

/** The parts of a browser that this needs. */
export interface Opener {
  readonly open: (url: string) => Tab | null
  readonly addEventListener: (type: 'message', listen: (event: MessageEvent) => void) => void
  readonly removeEventListener: (type: 'message', listen: (event: MessageEvent) => void) => void
}

export interface Tab {
  readonly closed: boolean
  readonly postMessage: (message: unknown, origin: string) => void
}

const BROWSER: Opener = {
  open: (url) => window.open(url),
  addEventListener: (type, listen) => window.addEventListener(type, listen),
  removeEventListener: (type, listen) => window.removeEventListener(type, listen),
}

/** To be called by a click, else the browser opens no tab. The data may come later than the tab. */
export async function openInPerfetto(data: () => Promise<ArrayBuffer>, title: string, opener: Opener = BROWSER): Promise<Handed> {
  const tab = opener.open(PERFETTO)
  if (tab === null) return 'blocked'
  const [answered, buffer] = await Promise.all([answers(tab, opener), data()])
  if (!answered) return 'silent'
  tab.postMessage({ perfetto: { buffer, title, keepApiOpen: false } }, PERFETTO)
  return 'opened'
}

function answers(tab: Tab, opener: Opener): Promise<boolean> {
  return new Promise((resolve) => {
    let asked = 0
    const done = (answered: boolean) => {
      clearInterval(asking)
      opener.removeEventListener('message', listen)
      resolve(answered)
    }
    const listen = ({ origin, data }: MessageEvent) => {
      if (origin === PERFETTO && data === 'PONG') done(true)
    }
    const ask = () => {
      asked += 1
      if (tab.closed || asked * ASK_EVERY_MS > PATIENCE_MS) done(false)
      else tab.postMessage('PING', PERFETTO)
    }
    const asking = setInterval(ask, ASK_EVERY_MS)
    opener.addEventListener('message', listen)
  })
}
