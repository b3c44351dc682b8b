import { WarningIcon } from '../components/icons'
import { useReachable } from '../state/connection'
import { useTexts } from '../state/language'
import styles from './Frame.module.css'

/** Says so while the server does not answer. */
export function Offline() {
  const { frame } = useTexts()
  if (useReachable()) return null
  return (
    <div className={styles.banner} role="alert">
      <WarningIcon />
      <span><strong>{frame.offlineTitle}.</strong> {frame.offline}</span>
    </div>
  )
}
