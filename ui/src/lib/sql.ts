/** What the box of queries works out. */

/** Longer queries are not kept in the address. */
export const LONGEST_KEPT = 1500

/** Rows that a query answers with at first, and at most. */
export const FIRST_ROWS = 1000
export const MOST_ROWS = 10_000

export type Example = 'kinds' | 'longest' | 'steps' | 'gaps' | 'memory' | 'stacks'

/** Queries to begin with. Each reads by its tables, which tell whether there is anything to ask. */
export const EXAMPLES: readonly { readonly name: Example; readonly tables: readonly string[]; readonly query: string }[] = [
  {
    name: 'kinds',
    tables: ['slices'],
    query: 'SELECT kind, count(*) AS slices, sum(dur_ns) AS total_ns\nFROM slices\nGROUP BY kind\nORDER BY total_ns DESC',
  },
  {
    name: 'longest',
    tables: ['slices'],
    query: 'SELECT rank_index, slice_id, name, kind, start_ns, dur_ns\nFROM slices\nORDER BY dur_ns DESC NULLS LAST\nLIMIT 100',
  },
  {
    name: 'steps',
    tables: ['steps'],
    query: 'SELECT rank_index, step, source, complete, end_ns - start_ns AS dur_ns\nFROM steps\nORDER BY rank_index, step',
  },
  {
    name: 'gaps',
    tables: ['slices'],
    query:
      "WITH work AS (\n  SELECT rank_index, slice_id, track_id, name, start_ns,\n    start_ns - max(start_ns + dur_ns) OVER (PARTITION BY rank_index, track_id ORDER BY start_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS gap_ns\n  FROM slices WHERE kind IN ('kernel', 'communication', 'copy', 'memset')\n)\nSELECT * FROM work WHERE gap_ns > 0 ORDER BY gap_ns DESC LIMIT 100",
  },
  {
    name: 'memory',
    tables: ['allocations'],
    query: 'SELECT rank_index, device, name, size_bytes, start_ns, end_ns, slice_id\nFROM allocations\nORDER BY size_bytes DESC\nLIMIT 100',
  },
  {
    name: 'stacks',
    tables: ['stacks'],
    query:
      'SELECT k.file, k.line, k."function", count(*) AS slices, sum(s.dur_ns) AS total_ns\nFROM slices s JOIN stacks k ON s.rank_index = k.rank_index AND s.stack_id = k.stack_id AND k.depth = 0\nGROUP BY ALL ORDER BY total_ns DESC LIMIT 100',
  },
]

export interface ResultRow {
  readonly at: number
  readonly values: readonly unknown[]
}

/** A value of a result as text; null and objects as SQL and JSON write them. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return 'NULL'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Whether a column holds numbers alone, beside nulls. */
export function isNumeric(rows: readonly (readonly unknown[])[], column: number): boolean {
  let found = false
  for (const row of rows) {
    const value = row[column]
    if (typeof value === 'number') found = true
    else if (value !== null) return false
  }
  return found
}

/** A name as a query may write it: reserved or odd ones need quotes. */
export function sqlName(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) && !RESERVED.has(name) ? name : `"${name.replaceAll('"', '""')}"`
}

const RESERVED = new Set(['index', 'function', 'window', 'end', 'order', 'group', 'table', 'column', 'select', 'from', 'where', 'limit', 'offset'])

/** A text with another put in the place of what is marked, with spaces where words would run together; and where the cursor then is. */
export function inserted(text: string, put: string, from: number, to: number): { text: string; at: number } {
  const before = text.slice(0, from)
  const after = text.slice(to)
  const left = before === '' || /[\s(.,]$/.test(before) ? '' : ' '
  const right = after === '' || /^[\s),.]/.test(after) ? '' : ' '
  return { text: before + left + put + right + after, at: (before + left + put).length }
}
