import { useMemo } from 'react'
import { useLocation } from 'wouter'
import type { Run, RunList } from '../../api/shapes'
import { Loaded } from '../../components/Loaded'
import { DataTable } from '../../components/table/DataTable'
import { usePageAddress } from '../../state/address'
import { useLanguage, useTexts } from '../../state/language'
import { useRunList } from '../../state/runs'
import { usePhone } from '../../state/screen'
import { PAGES } from '../pages'
import { runColumns } from './columns'
import { NoRuns } from './NoRuns'
import styles from './Runs.module.css'

/** Which runs there are, and what holds each back. */
export default function Runs() {
  const { runs: texts } = useTexts()
  const query = useRunList()
  return (
    <div>
      <title>{`${texts.title} · laptime`}</title>
      <h1 className={styles.title}>{texts.question}</h1>
      <Loaded query={query} height={320}>{(list) => <List list={list} />}</Loaded>
    </div>
  )
}

function List({ list }: { list: RunList }) {
  const { runs: texts } = useTexts()
  const { language } = useLanguage()
  const address = usePageAddress()
  const [, go] = useLocation()
  const phone = usePhone()
  const columns = useMemo(() => runColumns(texts, language, (run) => address(run.run, PAGES[0]!.name), phone), [texts, language, address, phone])
  if (list.runs.length === 0 && !list.scanning) return <NoRuns />
  return (
    <>
      <p className={styles.hint}>{texts.under(list.runs.length, list.base.join(', '))}{list.scanning && ` · ${texts.scanning}`}</p>
      {list.notes.map((note) => <p key={note} className={styles.hint}>{note}</p>)}
      <section className={styles.card}>
        <DataTable
          label={texts.title}
          rows={list.runs}
          columns={columns}
          rowKey={(run: Run) => run.run}
          searchable
          placeholder={texts.search}
          onOpen={(run) => go(address(run.run, PAGES[0]!.name))}
          height={Math.max(360, window.innerHeight - 260)}
        />
      </section>
    </>
  )
}
