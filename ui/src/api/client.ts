import { QueryClient } from '@tanstack/react-query'
import createFetchClient, { type Middleware } from 'openapi-fetch'
import createQueryClient from 'openapi-react-query'
import { asProblem, Problem, problemOf } from './problem'
import type { paths } from './schema'

/** Every answer that is none becomes a Problem, whatever the reason. */
const problems: Middleware = {
  onResponse: async ({ response }) => {
    if (!response.ok) throw await problemOf(response)
  },
  onError: ({ error }) => asProblem(error),
}

export const client = createFetchClient<paths>({ baseUrl: '/' })
client.use(problems)

/** Typed queries: `api.useQuery('get', '/api/runs/{run}/step', { params: { path: { run }, query } })`. */
export const api = createQueryClient(client)

/** What was read of a run changes only when it is imported anew. */
const FRESH_MS = 10 * 60_000

export function newQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        networkMode: 'always', // the server is this machine: it answers without a network too
        staleTime: FRESH_MS,
        refetchOnWindowFocus: false,
        retry: (failures, error) => failures < 2 && asProblem(error).unreachable,
        retryDelay: 500,
      },
      mutations: { networkMode: 'always' },
    },
  })
}

export { asProblem, Problem }
