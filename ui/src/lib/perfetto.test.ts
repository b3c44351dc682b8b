import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { openInPerfetto, type Opener, PERFETTO } from './perfetto'

let listeners: ((event: MessageEvent) => void)[] = []
const said = (origin: string, data: unknown) => listeners.forEach((listen) => listen({ origin, data } as MessageEvent))

function opener(postMessage: (message: unknown, origin: string) => void, tab = { closed: false }): Opener {
  return {
    open: () => Object.assign(tab, { postMessage }),
    addEventListener: (_, listen) => listeners.push(listen),
    removeEventListener: (_, listen) => (listeners = listeners.filter((each) => each !== listen)),
  }
}

beforeEach(() => {
  listeners = []
  vi.useFakeTimers()
})
afterEach(() => void vi.useRealTimers())

const data = async () => new ArrayBuffer(3)

it('asks until the tab answers, then gives the data to it alone', async () => {
  const sent: [unknown, string][] = []
  const opened = openInPerfetto(data, 'run', opener((...message) => sent.push(message)))
  await vi.advanceTimersByTimeAsync(350)
  expect(sent).toEqual(Array(3).fill(['PING', PERFETTO]))
  said('https://elsewhere.test', 'PONG')
  await vi.advanceTimersByTimeAsync(100)
  expect(sent).toHaveLength(4)
  said(PERFETTO, 'PONG')
  expect(await opened).toBe('opened')
  expect(sent.at(-1)).toEqual([{ perfetto: { buffer: new ArrayBuffer(3), title: 'run', keepApiOpen: false } }, PERFETTO])
  expect(listeners).toEqual([])
})

it('says that the tab was blocked, closed or never answered', async () => {
  expect(await openInPerfetto(data, 'run', { ...opener(() => undefined), open: () => null })).toBe('blocked')
  const tab = { closed: false }
  const closed = openInPerfetto(data, 'run', opener(() => undefined, tab))
  tab.closed = true
  await vi.advanceTimersByTimeAsync(200)
  expect(await closed).toBe('silent')
  const silent = openInPerfetto(data, 'run', opener(() => undefined))
  await vi.advanceTimersByTimeAsync(70_000)
  expect(await silent).toBe('silent')
})
