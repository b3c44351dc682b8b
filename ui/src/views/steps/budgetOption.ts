/** The chart of budgets: a bar for each step, its parts stacked, rings on those that stand out. */
import { type ChartOption, hatch, type Look, nameAxis, tooltip, valueAxis, zoom, ZOOM_FROM } from '../../components/chart/look'
import type { LegendEntry } from '../../components/Legend'
import { type BudgetPart, budgetParts, idleCauses } from '../../lib/budget'
import { exactly, share, significant, time } from '../../lib/units'
import type { StepRow } from '../../lib/steps'
import type { Texts } from '../../texts/catalogues'

/** More rings would hide one another's numbers. */
const MOST_NUMBERS = 12

type Named = Pick<Texts, 'steps' | 'terms'>

/** Parts of a step in the order of the stack: idle by its causes. */
export function stackOf(row: StepRow): BudgetPart[] {
  if (row.budget === null) return []
  return [...budgetParts(row.budget).filter((part) => part.term !== 'idle'), ...idleCauses(row.budget)]
}

/** The parts that any step has, in the order of the stack. */
export function partsOf(rows: readonly StepRow[]): BudgetPart[] {
  const found = new Map<string, BudgetPart>()
  for (const part of rows.flatMap(stackOf)) if (part.ns > 0 && !found.has(part.term)) found.set(part.term, part)
  const order = ['compute', 'communication', 'copy', 'dataWait', 'sync', 'launch', 'idleOther']
  return [...found.values()].toSorted((a, b) => order.indexOf(a.term) - order.indexOf(b.term))
}

export function legendOf(rows: readonly StepRow[], texts: Named): LegendEntry[] {
  const entries: LegendEntry[] = partsOf(rows).map(({ term, kind, pattern }) => ({ name: texts.terms[term].name, kind, pattern }))
  return rows.some((row) => row.budget === null) ? [...entries, { name: texts.steps.unknownPart, kind: 'scope', pattern: 'dotted' }] : entries
}

export function budgetOption(rows: readonly StepRow[], selected: number | null, texts: Named) {
  return (look: Look): ChartOption => ({
    grid: { left: 8, right: 16, top: 28, bottom: rows.length > ZOOM_FROM ? 48 : 24, containLabel: true },
    tooltip: tooltip(look, { formatter: (found: readonly { dataIndex: number }[]) => (found[0] ? stepWords(rows[found[0].dataIndex]!, texts) : '') }),
    xAxis: nameAxis(look, rows.map((row) => row.step), { name: texts.steps.step, nameLocation: 'middle', nameGap: 26 }),
    yAxis: valueAxis(look, 'time', { boundaryGap: [0, '8%'] }),
    ...(rows.length > ZOOM_FROM ? { dataZoom: zoom(look) } : {}),
    series: [...stacked(rows, look, texts), rings(rows, look), pointer(rows, selected, look)],
  })
}

function stacked(rows: readonly StepRow[], look: Look, texts: Named): object[] {
  const bar = { type: 'bar', stack: 'budget', barCategoryGap: rows.length > 60 ? '5%' : '25%', barMaxWidth: 56, cursor: 'pointer' }
  const parts = partsOf(rows).map(({ term, kind, pattern }) => ({
    ...bar,
    name: texts.terms[term].name,
    itemStyle: pattern === 'hatched' ? hatch(look.kinds[kind], look.card) : { color: look.kinds[kind] },
    data: rows.map((row) => stackOf(row).find((part) => part.term === term)?.ns ?? null),
  }))
  const untold = { ...bar, name: texts.steps.unknownPart, itemStyle: { color: look.kinds.scope, opacity: 0.45 }, data: rows.map((row) => (row.budget === null ? row.dur_ns : null)) }
  return [...parts, untold]
}

/** Rings and their numbers: what stands out is told without colour too. */
function rings(rows: readonly StepRow[], look: Look): object {
  const most = rows.filter((row) => row.outlier).toSorted((a, b) => b.dur_ns! - a.dur_ns!).slice(0, MOST_NUMBERS)
  return {
    type: 'scatter',
    name: 'outliers',
    symbol: 'circle',
    symbolSize: 13,
    itemStyle: { color: 'transparent', borderColor: look.kinds.sync, borderWidth: 2.5 },
    tooltip: { show: false },
    labelLayout: { hideOverlap: true },
    data: rows.map((row, at) => ({
      value: row.outlier ? row.dur_ns : null,
      label: { show: most.includes(row), position: at < rows.length / 20 ? 'right' : 'top', color: look.text, fontWeight: 600, formatter: `${significant(row.factor ?? 0)}×` },
    })),
    z: 5,
  }
}

function pointer(rows: readonly StepRow[], selected: number | null, look: Look): object {
  return {
    type: 'scatter',
    name: 'chosen',
    symbol: 'triangle',
    symbolRotate: 180,
    symbolSize: [13, 10],
    symbolOffset: [0, -18],
    itemStyle: { color: look.text },
    tooltip: { show: false },
    silent: true,
    data: rows.map((row) => (row.index === selected ? row.dur_ns : null)),
    z: 6,
  }
}

function stepWords(row: StepRow, texts: Named): string {
  const head = `${texts.steps.stepOf(row.step)}   ${time(row.dur_ns)}${row.outlier ? `   ${texts.steps.times(significant(row.factor!))}` : ''}`
  const parts = stackOf(row).filter((part) => part.ns > 0).map((part) => `${texts.terms[part.term].name}   ${time(part.ns)}   ${share(part.share)}`)
  return [head, ...(row.budget === null ? [texts.steps.unknownPart] : parts)].join('\n')
}

export function budgetTable(rows: readonly StepRow[], texts: Named) {
  const parts = partsOf(rows)
  return {
    columns: [texts.steps.step, texts.steps.time, ...parts.map((part) => texts.terms[part.term].name)],
    rows: rows.map((row) => [String(row.step), exactly(row.dur_ns, 'time'), ...parts.map(({ term }) => exactly(stackOf(row).find((part) => part.term === term)?.ns, 'time'))]),
  }
}
