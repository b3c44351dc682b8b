/** Whether the server answers; the event stream tells, and what asks in vain. */
import { useSyncExternalStore } from 'react'

let reachable = true
const listeners = new Set<() => void>()

export function setReachable(now: boolean): void {
  if (now === reachable) return
  reachable = now
  for (const listener of listeners) listener()
}

export function useReachable(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => reachable,
  )
}
