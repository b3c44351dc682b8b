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
        childrenVisibleMin: 60,
        label: { color: on, fontSize: 12, overflow: 'truncate', formatter: ({ name, value }: { name: string; value: number }) => `${name}\n${bytes(value)}` },
        upperLabel: { show: false },
        itemStyle: { borderColor: look.card, borderWidth: 1, gapWidth: 1 },
        levels: [
          { itemStyle: { borderWidth: 0, gapWidth: 3 } },
          { itemStyle: { borderWidth: 0, gapWidth: 1 }, colorSaturation: [0.45, 0.6] },
        ],
        color: [...look.series],
        data: tree.slice(0, 200),
      },
    ],
  }
}
