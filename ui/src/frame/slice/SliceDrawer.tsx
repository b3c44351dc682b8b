import { Drawer } from '@mantine/core'
import { keepPreviousData } from '@tanstack/react-query'
import { api } from '../../api/client'
import { Loaded } from '../../components/Loaded'
import { useParam, useQueryChoices } from '../../state/address'
import { useTexts } from '../../state/language'
import { SliceAbout } from './SliceAbout'

/** All about the slice of the address (?slice=): what `laptime slice` says. */
export function SliceDrawer({ run }: { run: string }) {
  const { slice: texts, frame } = useTexts()
  const [id, setId] = useParam('slice')
  const wanted = id !== null && /^\d{1,15}$/.test(id) ? id : null
  return (
    <Drawer opened={wanted !== null} onClose={() => setId(null)} position="right" size={560} title={`${texts.title} ${wanted ?? ''}`} closeButtonProps={{ 'aria-label': frame.close }}>
      {wanted !== null && <Content run={run} id={wanted} />}
    </Drawer>
  )
}

function Content({ run, id }: { run: string; id: string }) {
  const { rank } = useQueryChoices()
  const query = api.useQuery('get', '/api/runs/{run}/slices/{slice_id}', { params: { path: { run, slice_id: Number(id) }, query: rank === undefined ? {} : { rank } } }, { placeholderData: keepPreviousData })
  return <Loaded query={query} height={320}>{(answer) => <SliceAbout answer={answer} />}</Loaded>
}
