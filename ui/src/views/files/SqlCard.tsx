import { Button, Textarea } from '@mantine/core'
import { type KeyboardEvent, useRef } from 'react'
import type { Source } from '../../api/shapes'
import { Card } from '../../components/Card'
import { ProblemNote } from '../../components/ProblemNote'
import { EXAMPLES, inserted } from '../../lib/sql'
import { useTexts } from '../../state/language'
import styles from './Files.module.css'
import { SqlResult } from './SqlResult'
import { TableNames } from './TableNames'
import { useSql } from './useSql'

/** Any question to the tables of the run, by SQL. */
export function SqlCard({ run, source }: { run: string; source: Source }) {
  const { files: texts } = useTexts()
  const { text, setText, ask, result, error, running, asked } = useSql(run)
  const area = useRef<HTMLTextAreaElement>(null)
  const write = (name: string) => {
    const { selectionStart = text.length, selectionEnd = text.length } = area.current ?? {}
    const next = inserted(text, name, selectionStart, selectionEnd)
    setText(next.text)
    requestAnimationFrame(() => {
      area.current?.focus()
      area.current?.setSelectionRange(next.at, next.at)
    })
  }
  const pressed = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    ask(text)
  }
  const there = new Set(source.tables.filter(({ rows }) => rows > 0).map(({ name }) => name))
  return (
    <Card title={texts.sql} hint={texts.sqlHint}>
      <div className={styles.box}>
        <div>
          <Textarea ref={area} className={styles.query} aria-label={texts.query} value={text} onChange={(event) => setText(event.currentTarget.value)} onKeyDown={pressed} autosize minRows={7} maxRows={18} spellCheck={false} placeholder="SELECT …" />
          <div className={styles.tools}>
            <Button size="sm" onClick={() => ask(text)} loading={running} disabled={text.trim() === ''}>{texts.run}</Button>
            <small>{texts.runKeys}</small>
          </div>
          <div className={styles.examples}>
            <span>{texts.examples}:</span>
            {EXAMPLES.filter(({ tables }) => tables.every((table) => there.has(table))).map(({ name, query }) => (
              <Button key={name} size="compact-xs" variant="default" onClick={() => ask(query)}>{texts.exampleNames[name]}</Button>
            ))}
          </div>
        </div>
        <TableNames tables={source.tables} onName={write} />
      </div>
      <div className={styles.result} aria-live="polite" aria-busy={running}>
        {error !== null && !running && <ProblemNote error={error} />}
        {error === null && result && <SqlResult result={result} limit={asked?.limit ?? 0} onMore={(limit) => asked && ask(asked.query, limit)} />}
      </div>
    </Card>
  )
}
