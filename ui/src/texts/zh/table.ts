import type { table as english } from '../en/table'

export const table: typeof english = {
  search: '搜索',
  clear: '清除搜索',
  rows: (shown, all) => (shown === all ? `共 ${all} 行` : `${all} 行中的 ${shown} 行`),
  sortBy: (column) => `按${column}排序`,
  expand: '展开',
  collapse: '收起',
  none: '没有数据行',
  noneFor: (query) => `没有与“${query}”匹配的行`,
  most: (count) => `只列出前 ${count} 行；搜索或改变排序可看到其他行。`,
}
