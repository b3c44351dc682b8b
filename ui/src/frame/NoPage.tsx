import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { EmptyState } from '../components/EmptyState'
import { useTexts } from '../state/language'
import styles from './Frame.module.css'

export function NoPage() {
  const { frame } = useTexts()
  return (
    <div>
      <title>{`${frame.noPage} · laptime`}</title>
      <h1 className={styles.unseen}>{frame.noPage}</h1>
      <EmptyState what={frame.noPage}><Anchor component={Link} href="/">{frame.toRuns}</Anchor></EmptyState>
    </div>
  )
}
