import { Tooltip } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTexts } from '../state/language'
import type { Term } from '../texts/catalogues'
import styles from './Explained.module.css'

/** A word of the field; what it means shows on hover and on focus. */
export function Explained({ term, children }: { term: Term; children?: ReactNode }) {
  const { name, meaning } = useTexts().terms[term]
  return (
    <Tooltip label={meaning} multiline w={280}>
      <span className={styles.term} tabIndex={0}>{children ?? name}</span>
    </Tooltip>
  )
}
