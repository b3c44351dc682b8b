import type { utilisation as english } from '../en/utilisation'

export const utilisation: typeof english = {
  title: '利用率',
  question: '设备有多忙，哪些时间被计算掩盖？',
}
