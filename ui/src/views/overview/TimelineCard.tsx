import { Button } from '@mantine/core'
import { keepPreviousData } from '@tanstack/react-query'
import { api } from '../../api/client'
import type { Timeline } from '../../api/shapes'
import { Card } from '../../components/Card'
import { EmptyState } from '../../components/EmptyState'
import { Exact } from '../../components/Exact'
import { DownloadIcon } from '../../components/icons'
import { Loaded } from '../../components/Loaded'
import { timelineAddress } from '../../lib/downloads'
import type { Quantity } from '../../lib/units'
import { useSelection } from '../../state/address'
import { useTexts } from '../../state/language'
import { useRun } from '../../state/runs'
import styles from './Overview.module.css'
import { PerfettoButton } from './PerfettoButton'

/** What the timeline holds, and how to take it along. */
export function TimelineCard({ run }: { run: string }) {
  const { overview: texts } = useTexts()
  const { rank } = useSelection()
  const query = api.useQuery('get', '/api/runs/{run}/timeline', { params: { path: { run }, query: rank === null ? {} : { rank } } }, { placeholderData: keepPreviousData })
  const hint = query.data && query.data.executions > 0 ? texts.timelineOn[query.data.on] : undefined
  return (
    <Card title={texts.timeline} hint={hint}>
      <Loaded query={query} height={200}>{(timeline) => <Summary run={run} timeline={timeline} />}</Loaded>
    </Card>
  )
}

function Summary({ run, timeline }: { run: string; timeline: Timeline }) {
  const { overview: texts } = useTexts()
  if (timeline.slices === 0) return <EmptyState what={texts.noTimeline} />
  const device = timeline.on === 'device'
  const facts: readonly (readonly [string, number, Quantity])[] = [
    ...(device ? [[texts.devices, timeline.devices, 'count'] as const] : []),
    [device ? texts.streams : texts.threads, timeline.streams, 'count'],
    [texts.tasks, timeline.tasks, 'count'],
    [texts.executions, timeline.executions, 'count'],
    [texts.taskTime, timeline.total_ns, 'time'],
    [texts.span, timeline.span_ns, 'time'],
  ]
  return (
    <>
      <dl className={styles.facts}>
        {facts.map(([name, value, as]) => <div key={name}><dt>{name}</dt><dd><Exact value={value} as={as} /></dd></div>)}
      </dl>
      <Take run={run} />
    </>
  )
}

function Take({ run }: { run: string }) {
  const { overview: texts } = useTexts()
  const { rank, steps } = useSelection()
  const { data } = useRun(run)
  const name = [data?.name ?? run, rank === null ? null : `rank${rank}`, steps === null ? null : `steps${steps}`].filter(Boolean).join('-')
  const address = timelineAddress(run, { rank, steps, name })
  return (
    <>
      <div className={styles.buttons}>
        <Button component="a" size="sm" variant="default" href={address} download leftSection={<DownloadIcon size={16} />} title={texts.downloadHint}>
          {`${texts.download}: ${steps === null ? texts.whole : texts.stepsPart(steps)}`}
        </Button>
        <PerfettoButton address={address} title={name} />
      </div>
      <p className={styles.dimmed}>{texts.downloadHint} {steps === null && texts.chooseSteps} {texts.perfettoHint}</p>
    </>
  )
}
