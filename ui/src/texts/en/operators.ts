type Grouping = 'op-type' | 'name' | 'full-name' | 'kernel' | 'module' | 'shape' | 'source'
type Side = 'device' | 'host'

const groupings: Record<Grouping, string> = {
  'op-type': 'Type',
  name: 'Operator',
  'full-name': 'Full name',
  kernel: 'Kernel',
  module: 'Module',
  shape: 'Shape',
  source: 'Source line',
}

const many: Record<Grouping, string> = {
  'op-type': 'types',
  name: 'operators',
  'full-name': 'operators',
  kernel: 'kernels',
  module: 'modules',
  shape: 'operators and shapes',
  source: 'source lines',
}

const processors: Record<string, string> = {
  ai_core: 'AI Core',
  ai_cpu: 'AI CPU',
  host_cpu: 'host CPU',
  communication: 'communication',
  gpu: 'GPU',
  tpu: 'TPU',
}

const processor = (kind: string | null) => (kind === null ? 'not told' : (processors[kind] ?? kind.replaceAll('_', ' ')))
const capital = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1)

export const operators = {
  title: 'Operators',
  question: 'Which operators take the time?',
  where: 'Where operators ran',
  processor,
  tab: (side: Side, kind: string | null, tabs: number) =>
    kind !== null ? capital(processor(kind)) : side === 'host' ? 'Host' : tabs > 2 ? 'All of the device' : 'Device',
  groupBy: 'Group by',
  groupings,
  headline: (side: Side, name: string, share: string, time: string, count: string | null) =>
    `${name} takes ${share} of the ${side} time of operators: ${time}${count === null ? '' : ` in ${count} ${count === '1' ? 'execution' : 'executions'}`}.`,
  most: (count: number, all: string, by: Grouping) => `${count === 1 ? `It alone makes up 80 % of the time of all ${all}` : `${count} of ${all}`} ${many[by]}${count === 1 ? '' : ' make up 80 %'}.`,
  noTimes: 'The recording tells no times of these operators.',
  pictureTitle: (by: Grouping) => `Largest ${many[by]}`,
  pictureHint: 'Self time, and its share of all that this tab counts',
  chart: 'Picture',
  bars: 'Bars',
  pie: 'Pie',
  others: (count: number) => `${count.toLocaleString('en-US')} ${count === 1 ? 'other' : 'others'}`,
  tableTitle: (by: Grouping) => `All ${many[by]}`,
  tableHint: {
    device: 'Time on the device that each launched; its share is that of self time',
    host: 'Time of the calls on the host; self time is that without what they call',
  },
  shareHint: 'Shares are those of all time on the device',
  columns: {
    name: 'Name',
    type: 'Type',
    processor: 'Processor',
    share: 'Share',
    self: 'Self',
    total: 'Total',
    count: 'Count',
    mean: 'Mean',
    min: 'Min',
    max: 'Max',
  },
  search: 'Search by name or type …',
  csv: 'CSV',
  ofType: (type: string) => `Operators of type ${type}`,
  none: 'No operator was recorded',
  noneHow: 'laptime records operators of the host and kernels of the device in each step:',
  noneHere: 'Nothing was counted here',
  noModules: 'The recording does not tell which module an operator belongs to',
  noStacks: 'No call stack was recorded, so operators cannot be told by the line that called them',
  details: {
    title: 'Operator',
    times: 'Times',
    host: 'Host',
    device: 'Device',
    histogram: 'How long executions take',
    histogramAxis: 'executions',
    between: 'From',
    to: 'to',
    executions: 'Executions',
    byStep: 'By step',
    byStepLabel: 'Time in each step',
    noStep: 'outside',
    tensors: 'Inputs and outputs',
    variants: (count: number) => `Shapes (${count})`,
    leftOut: (count: number) => `and ${count} more`,
    longest: 'Longest executions',
    step: (step: number) => `step ${step}`,
    at: (time: string) => `at ${time}`,
    source: 'Called from',
    stack: 'Call stack',
    onlySums: 'The recording holds only sums of this operator, and no execution by itself.',
    noTensors: 'The recording tells no shapes of its inputs and outputs',
    noStack: 'No call stack was recorded',
    more: 'What is known of it',
  },
}
