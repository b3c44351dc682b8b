import { Drawer } from '@mantine/core'
import { keepPreviousData } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api } from '../../../api/client'
import { Loaded } from '../../../components/Loaded'
import { useParam } from '../../../state/address'
import { useTexts } from '../../../state/language'
import { useOperatorChoices } from '../../../state/operators'
import type { Side } from '../model'
import { type Chosen, useChosen } from '../view'
import { OperatorAbout } from './OperatorAbout'

/** All about the row of the address. A slice that is opened from it covers it until it is closed. */
export function OperatorDrawer({ run, side }: { run: string; side: Side }) {
  const { operators: texts, frame } = useTexts()
  const [chosen, , close] = useChosen()
  const covered = useCovered()
  return (
    <Drawer opened={chosen !== null && !covered} onClose={close} position="right" size={640} title={chosen === null ? '' : texts.groupings[chosen.by]} closeButtonProps={{ 'aria-label': frame.close }}>
      {chosen !== null && <Content run={run} side={side} chosen={chosen} />}
    </Drawer>
  )
}

/** Whether a slice is shown, and until what closed it is over: the same key would close this drawer too. */
function useCovered(): boolean {
  const [slice] = useParam('slice')
  const covered = slice !== null
  const [before, setBefore] = useState(covered)
  useEffect(() => {
    const later = setTimeout(() => setBefore(covered))
    return () => clearTimeout(later)
  }, [covered])
  return covered || before
}

function Content({ run, side, chosen }: { run: string; side: Side; chosen: Chosen }) {
  const choices = useOperatorChoices()
  const query = {
    ...choices,
    on: side,
    by: chosen.by,
    name: chosen.name,
    ...(chosen.kind === null ? {} : { device_kind: chosen.kind }),
    ...(chosen.shapes === null ? {} : { input_shapes: chosen.shapes }),
  }
  const details = api.useQuery('get', '/api/runs/{run}/op/details', { params: { path: { run }, query } }, { placeholderData: keepPreviousData })
  return <Loaded query={details} height={480}>{(known) => <OperatorAbout run={run} details={known} />}</Loaded>
}
