import { Skeleton } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { Redirect, Route, Switch } from 'wouter'
import { usePageAddress } from '../state/address'
import { useRunEvents } from '../state/runs'
import { PAGES } from '../views/pages'
import { Frame } from './Frame'
import { NoPage } from './NoPage'
import { RunPage } from './RunPage'

const Runs = lazy(() => import('../views/runs/Runs'))

export function App() {
  useRunEvents()
  const address = usePageAddress()
  return (
    <Frame>
      <Switch>
        <Route path="/"><Suspense fallback={<Skeleton height={320} radius="md" />}><Runs /></Suspense></Route>
        <Route path="/runs/:run/:page">{({ run, page }) => <RunPage run={decodeURIComponent(run)} page={page} />}</Route>
        <Route path="/runs/:run">{({ run }) => <Redirect replace to={address(decodeURIComponent(run), PAGES[0]!.name)} />}</Route>
        <Route><NoPage /></Route>
      </Switch>
    </Frame>
  )
}
