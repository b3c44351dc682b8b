import { Redirect, Route, Switch } from 'wouter'
import { usePageAddress } from '../state/address'
import { useRunEvents } from '../state/runs'
import { PAGES } from '../views/pages'
import { Code } from './Code'
import { Frame } from './Frame'
import { NoPage } from './NoPage'
import { RunPage } from './RunPage'

const loadRuns = () => import('../views/runs/Runs')

export function App() {
  useRunEvents()
  const address = usePageAddress()
  return (
    <Frame>
      <Switch>
        <Route path="/"><Code name="runs" load={loadRuns} props={{}} /></Route>
        <Route path="/runs/:run/:page">{({ run, page }) => <RunPage run={decodeURIComponent(run)} page={page} />}</Route>
        <Route path="/runs/:run">{({ run }) => <Redirect replace to={address(decodeURIComponent(run), PAGES[0]!.name)} />}</Route>
        <Route><NoPage /></Route>
      </Switch>
    </Frame>
  )
}
