import type { findings as english } from '../en/findings'

export const findings: typeof english = {
  title: '发现',
  fold: '收起发现',
  unfold: '展开发现',
  count: (count) => `${count} 条发现`,
  none: '没有突出的问题',
  noneWhy: '在已记录的数据中，没有规则发现可以节省的时间。',
  notOffered: '此服务器不提供发现',
  notChecked: '有些规则缺少数据',
  saving: (time, share) => `每个迭代约可节省 ${time}（${share}）`,
  evidence: '证据',
  slices: '查看',
  slice: (id) => `切片 ${id}`,
  rank: (rank) => `rank ${rank}`,
  where: '位置',
  fix: '如何改进',
  severity: { high: '高', medium: '中', low: '低', info: '提示' },
}
