import { queryOptions, useQuery } from '@tanstack/react-query'
import type { ComponentType } from 'react'
import { Loaded } from '../components/Loaded'

/** Fetches a part of the front end. */
export type Load<Props> = () => Promise<{ default: ComponentType<Props> }>

/** The question for a part's code; what was fetched once is there for good. */
export function codeOf<Props>(name: string, load: Load<Props>) {
  return queryOptions({ queryKey: ['code', name], queryFn: load, staleTime: Infinity, gcTime: Infinity, structuralSharing: false })
}

/** A part of the front end, once its code is there. Not by Suspense: React holds back what follows a fallback by 300 ms. */
export function Code<Props extends object>({ name, load, props }: { name: string; load: Load<Props>; props: Props }) {
  return <Loaded query={useQuery(codeOf(name, load))} height={320}>{({ default: Part }) => <Part {...props} />}</Loaded>
}
