import { Skeleton } from '@mantine/core'
import type { ReactNode } from 'react'
import { ProblemNote } from './ProblemNote'

/** The part of a query that matters here; what `api.useQuery` gives fits. */
export interface Answer<Data> {
  readonly data: Data | undefined
  readonly error: unknown
  readonly isPlaceholderData: boolean
  readonly refetch: () => unknown
}

export interface LoadedProps<Data> {
  readonly query: Answer<Data>
  /** Height of the grey place until the first answer, so that nothing jumps. */
  readonly height?: number
  readonly children: (data: Data) => ReactNode
}

/** What a query answers; a grey place before, what went wrong instead. Older data stays while newer is read. */
export function Loaded<Data>({ query, height = 160, children }: LoadedProps<Data>) {
  if (query.data !== undefined) {
    return <div aria-busy={query.isPlaceholderData} style={{ opacity: query.isPlaceholderData ? 0.6 : 1 }}>{children(query.data)}</div>
  }
  if (query.error) return <ProblemNote error={query.error} onRetry={() => void query.refetch()} />
  return <Skeleton height={height} radius="md" role="status" aria-label="…" />
}
