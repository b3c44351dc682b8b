import { useMutation } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useState } from 'react'
import { client } from '../../api/client'
import { FIRST_ROWS, LONGEST_KEPT } from '../../lib/sql'
import { useParam, useSelection } from '../../state/address'

export interface Asked {
  readonly query: string
  readonly limit: number
}

/** The text of the query, its runs and their result. A query in the address runs at once. */
export function useSql(run: string) {
  const { rank } = useSelection()
  const [kept, keep] = useParam('sql')
  const [text, setText] = useState(kept ?? '')
  const { mutate, data, error, isPending, variables } = useMutation({
    mutationFn: async ({ query, limit }: Asked) => {
      const began = performance.now()
      const { data } = await client.POST('/api/runs/{run}/sql', { params: { path: { run } }, body: { query, limit, ...(rank === null ? {} : { rank }) } })
      return { ...data!, took_ns: Math.round((performance.now() - began) * 1e6) }
    },
  })
  const ask = (query: string, limit = FIRST_ROWS) => {
    if (query.trim() === '') return
    setText(query)
    keep(query.length <= LONGEST_KEPT ? query : null)
    mutate({ query, limit })
  }
  const first = useEffectEvent(() => {
    if (kept !== null) mutate({ query: kept, limit: FIRST_ROWS })
  })
  useEffect(() => first(), [run, rank])
  return { text, setText, ask, result: data, error, running: isPending, asked: variables }
}
