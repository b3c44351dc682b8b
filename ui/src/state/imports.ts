import { useQueryClient } from '@tanstack/react-query'
import { api } from '../api/client'
import { takeIn } from './runs'

/** Starts the import of a run; the list and its page follow by events. */
export function useImport(): { start: (run: string) => void; error: unknown } {
  const queries = useQueryClient()
  const { mutate, error } = api.useMutation('post', '/api/runs/{run}/import', { onSuccess: (run) => takeIn(queries, run) })
  return { start: (run) => mutate({ params: { path: { run } } }), error }
}
