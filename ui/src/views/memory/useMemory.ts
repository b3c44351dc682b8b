import { keepPreviousData } from '@tanstack/react-query'
import { api } from '../../api/client'
import type { MemoryCurve } from '../../api/shapes'
import { deviceNamed } from '../../lib/memory'
import { useParam, useQueryChoices, useSelection } from '../../state/address'

const POINTS = 2000
/** Blocks that the table and the picture of an instant list at most. */
export const OWNERS = 1000

/** The choices that all questions about memory have in common. */
export interface MemoryChoice {
  readonly run: string
  readonly device: string | null
  /** What they ask: the device, and what the header chooses. */
  readonly query: { readonly rank?: number; readonly steps?: string; readonly device?: string }
}

/** The curve of a device; of the fullest where none is chosen. */
export function useCurve({ run, query }: MemoryChoice) {
  return api.useQuery('get', '/api/runs/{run}/memory/curve', { params: { path: { run }, query: { ...query, points: POINTS } } }, { placeholderData: keepPreviousData })
}

/** What the address and the header choose, once it is known which devices there are. */
export function useMemoryChoice(run: string) {
  const { device: number } = useSelection()
  const choices = useQueryChoices()
  const [chosen, choose] = useParam('memory')
  const fullest = useCurve({ run, device: null, query: choices })
  const device = deviceNamed(fullest.data?.devices ?? [], chosen, number)
  const choice: MemoryChoice = { run, device, query: { ...choices, ...(device === null ? {} : { device }) } }
  return { choice, choose, fullest }
}

/** What lives on a device at a time; at its peak where none is chosen. */
export function useLive({ run, query: asked }: MemoryChoice, at: number | null) {
  const query = { ...asked, ...(at === null ? {} : { at_ns: at }), limit: OWNERS }
  return api.useQuery('get', '/api/runs/{run}/memory/live', { params: { path: { run }, query } }, { placeholderData: keepPreviousData })
}

/** The instant of the address; null where none is chosen that the curve shows. */
export function useInstant({ start_ns: start, end_ns: end }: MemoryCurve): [number | null, (at: number | null) => void] {
  const [text, setText] = useParam('at')
  const at = text !== null && /^-?\d{1,18}$/.test(text) ? Number(text) : null
  return [at !== null && start <= at && at <= end ? at : null, (at) => setText(at === null ? null : String(Math.round(at)))]
}
