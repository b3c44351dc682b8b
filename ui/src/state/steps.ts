/** The step trace of the run that is shown, with the points that the address overrides. */
import { keepPreviousData } from '@tanstack/react-query'
import { api } from '../api/client'
import { useParams, useQueryChoices } from './address'

/** Names of operators that replace the points found; null where none was named. */
export interface Points {
  readonly forward: string | null
  readonly backward: string | null
  readonly communication: string | null
}

export function usePoints(): readonly [Points, (points: Points) => void] {
  const [params, change] = useParams()
  const points = { forward: params.get('fp'), backward: params.get('bp'), communication: params.get('comm') }
  return [points, ({ forward, backward, communication }) => change({ fp: forward, bp: backward, comm: communication })]
}

export function useStepTrace(run: string) {
  const choices = useQueryChoices()
  const [{ forward, backward, communication }] = usePoints()
  const query = {
    ...choices,
    ...(forward === null ? {} : { fp_point: forward }),
    ...(backward === null ? {} : { bp_point: backward }),
    ...(communication === null ? {} : { comm_point: [communication] }),
  }
  return api.useQuery('get', '/api/runs/{run}/step', { params: { path: { run }, query } }, { placeholderData: keepPreviousData })
}
