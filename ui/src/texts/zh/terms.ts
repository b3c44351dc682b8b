import type { terms as english } from '../en/terms'

export const terms: typeof english = {
  step: { name: '迭代', meaning: '训练循环处理一个批次的一次过程，以标记划分。' },
  compute: { name: '计算', meaning: '至少有一个设备在执行非集合通信算子的时间。' },
  communication: { name: '未掩盖的通信', meaning: '只有集合通信在执行的时间，没有被计算掩盖。' },
  copy: { name: '未掩盖的拷贝', meaning: '计算与通信之外的拷贝时间。' },
  idle: { name: '空闲', meaning: '设备无事可做的时间。' },
  dataWait: { name: '等待数据', meaning: '训练线程等待下一个批次时设备空闲。' },
  sync: { name: '同步后空闲', meaning: '主机等待设备的结果，期间没有下发任务，设备因此空闲。' },
  launch: { name: '下发过晚', meaning: '主机下发下一个算子过晚，设备因此空闲。' },
  idleOther: { name: '其他空闲', meaning: '记录中看不出原因的空闲。' },
  compile: { name: '编译', meaning: '主线程用于编译的时间；它包含在其他部分之中。' },
  interval: { name: '迭代间隙', meaning: '从上一个迭代结束到前向开始：主要用于读取数据。' },
  forwardBackward: { name: '前向与反向', meaning: '从前向开始到反向结束。' },
  tail: { name: '迭代拖尾', meaning: '从反向结束到迭代结束：参数更新与最后的集合通信。' },
  operator: { name: '算子', meaning: '框架命名的工作单元，可能包含多个核函数。' },
  kernel: { name: '核函数', meaning: '在设备上执行的程序。' },
  hostQueue: { name: '主机队列', meaning: '已在主机内存中准备好的批次。' },
  deviceQueue: { name: '数据队列', meaning: '在设备上等待训练取用的批次。' },
  p90: { name: 'p90', meaning: '十个中有九个不超过这个值。' },
}
