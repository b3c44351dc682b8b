import { createContext, useContext } from 'react'

/** True on the page that `laptime report --html` writes: all it can show is in the file. */
export const SavedContext = createContext(false)

export function useSaved(): boolean {
  return useContext(SavedContext)
}
