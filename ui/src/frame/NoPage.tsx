import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { EmptyState } from '../components/EmptyState'
import { useTexts } from '../state/language'

export function NoPage() {
  const { frame } = useTexts()
  return <EmptyState what={frame.noPage}><Anchor component={Link} href="/">{frame.toRuns}</Anchor></EmptyState>
}
