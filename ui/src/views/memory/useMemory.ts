import { keepPreviousData } from '@tanstack/react-query'
import { api } from '../../api/client'
import { deviceNamed } from '../../lib/memory'
import { useParam, useSelection } from '../../state/address'

const POINTS = 2000
/** Blocks that the table and the picture of an instant list at most. */
export const OWNERS = 1000

/** The choices that all questions about memory have in common. */
export interface MemoryChoice {
  readonly run: string
  readonly rank: number | null
  readonly device: string | null
}

export function memoryQuery({ rank, device }: MemoryChoice): { rank?: number; device?: string } {
  return { ...(rank === null ? {} : { rank }), ...(device === null ? {} : { device }) }
}

/** The curve of a device; of the fullest where none is chosen. */
export function useCurve(choice: MemoryChoice) {
  const query = { ...memoryQuery(choice), points: POINTS }
  return api.useQuery('get', '/api/runs/{run}/memory/curve', { params: { path: { run: choice.run }, query } }, { placeholderData: keepPreviousData })
}

/** What the address and the header choose, once it is known which devices there are. */
export function useMemoryChoice(run: string) {
  const { rank, device: number } = useSelection()
  const [chosen, choose] = useParam('memory')
  const fullest = useCurve({ run, rank, device: null })
  const device = deviceNamed(fullest.data?.devices ?? [], chosen, number)
  const choice: MemoryChoice = { run, rank, device }
  return { choice, choose, fullest }
}

/** What lives on a device at a time; at its peak where none is chosen. */
export function useLive(choice: MemoryChoice, at: number | null) {
  const query = { ...memoryQuery(choice), ...(at === null ? {} : { at_ns: at }), limit: OWNERS }
  return api.useQuery('get', '/api/runs/{run}/memory/live', { params: { path: { run: choice.run }, query } }, { placeholderData: keepPreviousData })
}

/** The instant of the address; null where none is chosen. */
export function useInstant(): [number | null, (at: number | null) => void] {
  const [text, setText] = useParam('at')
  return [text !== null && /^-?\d{1,18}$/.test(text) ? Number(text) : null, (at) => setText(at === null ? null : String(Math.round(at)))]
}
