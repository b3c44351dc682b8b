import { api } from '../../api/client'
import type { Contents } from '../../api/shapes'
import { Headline, Stack } from '../../components/Headline'
import { Loaded } from '../../components/Loaded'
import { count, share } from '../../lib/units'
import { shareOf } from '../../lib/utilisation'
import { useSelection } from '../../state/address'
import { useTexts } from '../../state/language'
import type { PageProps } from '../pages'
import { MissingCard } from './MissingCard'
import { SourcesCard } from './SourcesCard'
import { SqlCard } from './SqlCard'
import { WarningsCard } from './WarningsCard'

/** What was read, what was dropped and why; and the tables themselves. */
export default function Files({ run }: PageProps) {
  const contents = api.useQuery('get', '/api/runs/{run}/files', { params: { path: { run } } })
  return <Loaded query={contents} height={480}>{(found) => <Shown run={run} found={found} />}</Loaded>
}

function Shown({ run, found }: { run: string; found: Contents }) {
  const { files: texts } = useTexts()
  const { rank } = useSelection()
  const sum = (part: 'read' | 'kept') => found.sources.reduce((total, { events }) => total + events[part], 0)
  const [first] = found.sources
  const kept = shareOf(sum('kept'), sum('read'))
  const notes = [
    first && texts.made(first.framework, text(first.facts.framework_version), first.format),
    found.warnings.length > 0 ? texts.warnings(new Set(found.warnings.map(({ code }) => code)).size) : texts.nothingWrong,
    found.not_recorded.length > 0 && texts.missing(found.not_recorded.length),
  ]
  const shown = found.sources.find((source) => rank !== null && source.rank === rank) ?? first
  return (
    <Stack>
      <Headline label={texts.question} words={texts.headline(found.sources.length, count(sum('read')), kept === null ? count(sum('kept')) : share(kept))} notes={notes} />
      <SourcesCard sources={found.sources} />
      <WarningsCard warnings={found.warnings} />
      <MissingCard run={run} missing={found.not_recorded} />
      {shown && <SqlCard run={run} source={shown} />}
    </Stack>
  )
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
