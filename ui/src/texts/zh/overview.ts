import type { overview as english } from '../en/overview'

export const overview: typeof english = {
  title: '总览',
  question: '一个迭代的时间花在哪里？',
  headline: (time, parts) => `一个迭代用时 ${time}：${parts}。`,
  part: (share, name) => `${name} ${share}`,
  list: (parts) => parts.join('，'),
  steps: (count) => `${count} 个迭代的平均值`,
  hostBasis: '没有记录到设备上的工作：这里是训练主线程的时间。',
  budget: '迭代时间构成',
  stepTrace: '迭代轨迹',
  average: '平均迭代',
  noSteps: '没有记录到迭代',
  noStepsHow: '迭代由标记划分。请在训练循环中标记每个迭代的结束：',
}
