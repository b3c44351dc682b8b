import type { Source } from '../../api/shapes'
import { sqlName } from '../../lib/sql'
import { count } from '../../lib/units'
import { useTexts } from '../../state/language'
import styles from './Files.module.css'

interface TableNamesProps {
  readonly tables: Source['tables']
  readonly onName: (name: string) => void
}

/** The tables with their columns; a click writes the name into the query. Those with rows come first. */
export function TableNames({ tables, onName }: TableNamesProps) {
  const { files: texts } = useTexts()
  const sorted = tables.toSorted((a, b) => Number(b.rows > 0) - Number(a.rows > 0))
  return (
    <div className={styles.tables} tabIndex={0} role="region" aria-label={texts.tables}>
      <h3>{texts.tables}</h3>
      {sorted.map(({ name, rows, columns }) => (
        <details key={name} className={styles.table}>
          <summary><span>{name}</span> <small className="numbers">{rows > 0 ? texts.rows(count(rows)) : texts.empty}</small></summary>
          <dl className={styles.columns}>
            <dt><Name name={name} onName={onName} /></dt><dd />
            {columns.map((column) => <Column key={column.name} {...column} onName={onName} />)}
          </dl>
        </details>
      ))}
    </div>
  )
}

function Column({ name, type, onName }: { name: string; type: string; onName: (name: string) => void }) {
  return <><dt><Name name={name} onName={onName} /></dt><dd>{type}</dd></>
}

function Name({ name, onName }: { name: string; onName: (name: string) => void }) {
  return <button type="button" className={styles.name} onClick={() => onName(sqlName(name))}>{name}</button>
}
