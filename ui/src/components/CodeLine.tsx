import { ActionIcon, CopyButton, Tooltip } from '@mantine/core'
import { useTexts } from '../state/language'
import styles from './CodeLine.module.css'
import { CheckIcon, CopyIcon } from './icons'

/** Code to take along, with a button that copies it. */
export function CodeLine({ code }: { code: string }) {
  const { frame } = useTexts()
  return (
    <div className={styles.line}>
      <pre className={styles.code} tabIndex={0}><code>{code}</code></pre>
      <CopyButton value={code}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? frame.copied : frame.copy}>
            <ActionIcon variant="subtle" color="gray" onClick={copy} aria-label={copied ? frame.copied : frame.copy}>
              {copied ? <CheckIcon size={16} /> : <CopyIcon size={16} />}
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
    </div>
  )
}
