import { type ChartOption, type Look, tooltip } from '../../components/chart/look'
import type { TreeNode } from '../../lib/memory'
import { bytes, share } from '../../lib/units'

interface Hovered {
  readonly name: string
  readonly value: number
  readonly treePathInfo: readonly { readonly name: string; readonly value: number }[]
}

/** Owners as areas: operators, in them their blocks. */
export function treemapOption(tree: readonly TreeNode[], look: Look, title: string): ChartOption {
  const all = tree.reduce((sum, { value }) => sum + value, 0)
  const dark = look.scheme === 'dark'
  const on = dark ? '#10151c' : '#ffffff'
  return {
    tooltip: tooltip(look, {
      trigger: 'item',
      formatter: ({ name, value, treePathInfo: path }: Hovered) => {
        const operator = path.length > 2 ? `${path[1]!.name}\n` : ''
        return `${operator}${name}\n${bytes(value)} · ${share(all > 0 ? value / all : null)}`
      },
    }),
    series: [
      {
        name: title,
        type: 'treemap',
        left: 0, right: 36, top: 0, bottom: 0,
        roam: false,
        nodeClick: false,
        breadcrumb: { show: false },
        visibleMin: 30,
        childrenVisibleMin: 3000,
        label: { color: on, fontSize: 12, overflow: 'truncate', formatter: ({ name, value }: { name: string; value: number }) => `${name}\n${bytes(value)}` },
        upperLabel: { show: false },
        levels: [{ itemStyle: { borderWidth: 0, gapWidth: 3 } }, { upperLabel: { show: true, height: 20, color: on, formatter: ({ name, value }: { name: string; value: number }) => `${name}  ${bytes(value)}` }, itemStyle: { borderWidth: 1, gapWidth: 1 } }],
        data: tree.slice(0, MOST).map((node, at) => painted(node, look.series[at % look.series.length]!)),
      },
    ],
  }
}

const MOST = 200

/** An operator and its blocks in one colour; a block alone needs no frame. */
function painted({ name, value, slice, children }: TreeNode, colour: string): object {
  if (children && children.length > 1) return { name, value, itemStyle: { color: colour, borderColor: colour }, children: children.map((child) => ({ ...child, itemStyle: { color: colour }, label: { show: false } })) }
  const only = children?.[0]?.slice ?? slice
  return { name, value, itemStyle: { color: colour, borderColor: colour }, upperLabel: { show: false }, ...(only === undefined ? {} : { slice: only }) }
}
