/** The few operators that take most, and the rest as one, as bars or a pie. */
import { type ChartOption, type Look, nameAxis, tooltip, valueAxis } from '../../components/chart/look'
import { count, share, time } from '../../lib/units'
import type { Texts } from '../../texts/catalogues'

export interface TopShare {
  readonly key: string
  readonly name: string
  readonly count: number | null
  readonly total_ns: number | null
  readonly share: number | null
  readonly rest: boolean
}

interface Row {
  readonly name: string
  readonly device_kind: string | null
  readonly count: number | null
  readonly total_ns: number | null
  readonly share: number | null
}

const LONGEST = 28

/** Shares of the rows given, and of all others together. */
export function topShares(rows: readonly Row[], total: number, texts: Texts['overview']): TopShare[] {
  const top = rows.map((row, at) => ({ key: `${at} ${row.name}`, name: row.name, count: row.count, total_ns: row.total_ns, share: row.share, rest: false }))
  const known = top.filter((row) => row.share !== null && row.total_ns !== null)
  const covered = known.reduce((sum, row) => sum + row.share!, 0)
  const time = known.reduce((sum, row) => sum + row.total_ns!, 0)
  if (total <= rows.length || covered <= 0) return top
  const rest = Math.max(0, 1 - covered)
  return [...top, { key: 'rest', name: texts.otherTypes(total - rows.length), count: null, total_ns: Math.round((time / covered) * rest), share: rest, rest: true }]
}

export function topOption(rows: readonly TopShare[], pie: boolean) {
  return (look: Look): ChartOption => (pie ? pieOption(rows, look) : barOption(rows, look))
}

function words(row: TopShare): string {
  return `${row.name}\n${[time(row.total_ns), share(row.share), row.count === null ? null : `× ${count(row.count)}`].filter(Boolean).join('   ')}`
}

export function colourOf(row: TopShare, at: number, look: Look): string {
  return row.rest ? look.kinds.scope : look.series[at % look.series.length]!
}

function short(name: string): string {
  return name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name
}

function pieOption(rows: readonly TopShare[], look: Look): ChartOption {
  return {
    tooltip: tooltip(look, { trigger: 'item', formatter: ({ dataIndex }: { dataIndex: number }) => words(rows[dataIndex]!) }),
    series: [
      {
        type: 'pie',
        radius: ['38%', '72%'],
        center: ['50%', '50%'],
        startAngle: 90,
        minAngle: 2,
        itemStyle: { borderColor: look.card, borderWidth: 2 },
        label: { color: look.text, fontSize: 12, formatter: ({ dataIndex }: { dataIndex: number }) => share(rows[dataIndex]!.share) },
        labelLine: { lineStyle: { color: look.dimmed } },
        labelLayout: { hideOverlap: true },
        data: rows.map((row, at) => ({ name: row.name, value: row.total_ns ?? 0, itemStyle: { color: colourOf(row, at, look) } })),
      },
    ],
  }
}

function barOption(rows: readonly TopShare[], look: Look): ChartOption {
  return {
    grid: { left: 0, right: 72, top: 4, bottom: 4, containLabel: true },
    tooltip: tooltip(look, { formatter: (found: readonly { dataIndex: number }[]) => (found[0] ? words(rows[found[0].dataIndex]!) : '') }),
    xAxis: valueAxis(look, 'time', { axisLabel: { show: false }, splitLine: { show: false } }), // each bar says its share
    yAxis: nameAxis(look, rows.map((row) => short(row.name)), { inverse: true, axisLabel: { color: look.text, width: 180, overflow: 'truncate' } }),
    series: [
      {
        type: 'bar',
        barMaxWidth: 18,
        label: { show: true, position: 'right', color: look.text, fontSize: 12, formatter: ({ dataIndex }: { dataIndex: number }) => share(rows[dataIndex]!.share) },
        data: rows.map((row, at) => ({ value: row.total_ns, itemStyle: { color: colourOf(row, at, look), borderRadius: [0, 3, 3, 0] } })),
      },
    ],
  }
}
