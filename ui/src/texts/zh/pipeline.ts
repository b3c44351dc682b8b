import type { pipeline as english } from '../en/pipeline'

export const pipeline: typeof english = {
  title: '数据处理',
  question: '训练是否在等数据，卡在哪个环节？',
}
