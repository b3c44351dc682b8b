type Stage = 'process' | 'send' | 'fetch'

interface Filled {
  readonly empty_count: number
  readonly full_count: number | null
  readonly samples: number
}

const stages: Record<Stage, { name: string; what: string }> = {
  process: { name: 'Process', what: 'reads and prepares batches' },
  send: { name: 'Send', what: 'moves them to the device' },
  fetch: { name: 'Fetch', what: 'training takes the next batch' },
}

const queueNames: Record<string, string> = { host: 'Host queue', device: 'Device queue', transfer: 'Queue to the device' }

const percent = (part: number, all: number) => (all > 0 ? ` (${((100 * part) / all).toFixed(1)}\u00a0%)` : '')

export const pipeline = {
  title: 'Data pipeline',
  question: 'Does training wait for data, and where is it held up?',
  tabs: { interval: 'Step interval', processing: 'Data processing' },
  waits: (time: string, share: string | null) => `Training waits ${time} for each batch${share === null ? '' : `: ${share} of the time of its steps`}.`,
  hardly: (time: string, share: string) => `Training hardly waits for data: ${time} a batch, ${share} of the time of its steps.`,
  without: (waits: string, batches: string) => `${waits} of ${batches} batches found the queue empty.`,
  noWaits: 'The recording tells how full the queues were, not how long training waited.',
  noWaitsNoQueues: 'The recording tells the operators of the pipeline, not how long training waited.',
  none: 'Nothing was recorded of how data reaches training',
  noneHow: 'With the loader watched, laptime records each wait for a batch, how full the queues are and what the workers do:',
  chain: 'From data to training',
  chainHint: 'Queues between the stages, looked at when a batch is fetched',
  stages,
  queueName: (name: string) => queueNames[name] ?? name,
  slowest: 'slowest',
  empty: 'Empty',
  full: 'Full',
  ofAll: (part: string, all: string) => `${part} of ${all}`,
  holds: (mean: string, capacity: string | null) => (capacity === null ? `holds ${mean} on average` : `holds ${mean} of ${capacity} on average`),
  queueUnknown: 'How full it was is not recorded',
  noQueues: 'No queue was recorded. With the loader watched, each batch tells how full they are:',
  verdicts: {
    process: 'Data processing is the slow stage: batches find the host queue empty. The tab Data processing shows which operator.',
    send: 'Sending is the slow stage: the host queue has data while the device queue runs empty.',
    none: 'No stage is slow: batches find data in the queues.',
  },
  facts: {
    meanWait: 'Wait for a batch, mean',
    share: 'Share of the steps',
    total: 'All waits',
    batches: 'Batches',
    waits: 'Found the queue empty',
    first: 'First batch',
    startUp: 'Longest start of the loader',
  },
  queueSizes: 'Queue sizes',
  queueSize: (queue: string) => `${queue}: size`,
  queueFacts: ({ empty_count: empty, full_count: full, samples }: Filled) =>
    `Empty ${empty} of ${samples} times${percent(empty, samples)}${full === null ? '' : `, full ${full} times${percent(full, samples)}`}`,
  size: 'entries',
  time: 'time',
  sample: 'sample',
  capacity: 'capacity',
  average: 'average',
  stepsNote: 'Curves show the chosen steps; counts and averages are those of the whole recording.',
  times: 'Times',
  wait: 'waiting',
  lines: { get: 'get', push: 'push', total: 'total' },
  mean: (name: string, time: string) => `${name}: ${time} on average`,
  withoutFirst: 'the first batch left out',
  sendTimes: 'Sending a batch',
  fetchTimes: 'Fetch: training waits',
  noTimes: 'The recording tells no times of fetching or sending.',
  graph: 'Operators and their queues',
  graphHint: 'Pipes are as thick as their queues are full, on average. Choose one for its curve.',
  training: 'Training',
  workers: (count: number) => `${count} ${count === 1 ? 'worker' : 'workers'}`,
  workersUnknown: 'workers not told',
  pipe: (from: string, to: string, use: string) => `Queue from ${from} to ${to}: ${use} full`,
  between: (from: string, to: string) => `Queue from ${from} to ${to}`,
  use: 'Average use of each queue',
  useHint: 'Mean size over capacity',
  emptyShare: (share: string) => `empty ${share} of the time`,
  fills: 'Fills it',
  empties: 'Empties it',
  operator: { id: 'Id', type: 'Type', workers: 'Workers', batches: 'Batches', perBatch: 'Time for a batch' },
  noCurve: 'This queue was not looked at over time.',
  noOperators: 'The operators of the pipeline were not recorded',
  noOperatorsHow: 'What prepares the batches, step by step, is recorded by:',
  noBottleneck: 'No operator stands out as the one that holds the pipeline up.',
  isSlow: (name: string) => `${name} holds the pipeline up:`,
  reasons: {
    time: (type: string, time: string, share: string) => `${type} takes ${time} of each batch, ${share} of the loader's work.`,
    drop: (input: string, output: string) => `its input is ${input} full while its output queue is ${output} full.`,
    reading: 'all queues are near empty, so reading the data is too slow.',
    following: 'all queues are full, so what follows the pipeline is slower.',
  },
  harmless: (waits: string, batches: string) => `But only ${waits} of ${batches} batches found no data: training hardly waits for it.`,
  advice: 'What to do',
}
