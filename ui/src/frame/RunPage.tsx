import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { Loaded } from '../components/Loaded'
import { useTexts } from '../state/language'
import { useRun } from '../state/runs'
import { PAGES } from '../views/pages'
import { Code, codeOf } from './Code'
import { NoPage } from './NoPage'
import { NotReady } from './NotReady'
import { SliceDrawer } from './slice/SliceDrawer'
import styles from './Frame.module.css'

/** A page of a run: the page where the run is imported, else what becomes of its import. */
export function RunPage({ run, page }: { run: string; page: string }) {
  const texts = useTexts()
  const query = useRun(run)
  const shown = PAGES.find(({ name }) => name === page)
  const queries = useQueryClient()
  useEffect(() => { // while the server is asked whether the run is there
    if (shown) void queries.prefetchQuery(codeOf(shown.name, shown.load))
  }, [queries, shown])
  if (!shown) return <NoPage />
  return (
    <Loaded query={query} height={320}>
      {(known) =>
        known.status === 'ready' ? (
          <div className={styles.page}>
            <title>{`${texts[shown.name].title} · ${known.name} · laptime`}</title>
            <h1 className={styles.unseen}>{`${known.name}: ${texts[shown.name].title}`}</h1>
            <Code name={shown.name} load={shown.load} props={{ run }} />
            <SliceDrawer run={run} />
          </div>
        ) : (
          <NotReady run={known} />
        )
      }
    </Loaded>
  )
}
