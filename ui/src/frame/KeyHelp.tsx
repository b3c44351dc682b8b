import { Kbd, Modal } from '@mantine/core'
import { useTexts } from '../state/language'
import styles from './KeyHelp.module.css'

export function KeyHelp({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { frame } = useTexts()
  const list = frame.keyList
  const keys: readonly (readonly [readonly string[], string])[] = [
    [['?'], list.help],
    [['/'], list.search],
    [['['], list.nav],
    [[']'], list.findings],
    [['t'], list.theme],
    [['r'], list.runs],
    [['1', '…', '9'], list.page],
    [['↑', '↓'], list.table],
    [['Enter'], list.open],
    [['Esc'], list.close],
  ]
  return (
    <Modal opened={opened} onClose={onClose} title={frame.keys} closeButtonProps={{ 'aria-label': frame.close }}>
      <dl className={styles.keys}>
        {keys.map(([pressed, does]) => (
          <div key={does}>
            <dt>{pressed.map((key) => (key === '…' ? <span key={key}>–</span> : <Kbd key={key}>{key}</Kbd>))}</dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Modal>
  )
}
