/** The data pipeline as the page draws it: the chain of stages, the graph of operators, what holds it up. */
import type { DataQueue, OutputQueue, Pipeline, PipelineOperator } from '../../api/shapes'

export type Stage = 'process' | 'send' | 'fetch'

/** A stage and the queues that it fills; the last one fills none. */
export interface Link {
  readonly stage: Stage
  readonly queues: readonly DataQueue[]
}

/** From preparing batches to training; sending is a stage of its own where its queue was recorded. */
export function chainOf({ queues }: Pick<Pipeline, 'queues'>): Link[] {
  const sent = queues.filter(({ stage }) => stage === 'send')
  const processed = queues.filter(({ stage }) => stage !== 'send')
  return [
    { stage: 'process', queues: processed },
    ...(sent.length > 0 ? [{ stage: 'send' as const, queues: sent }] : []),
    { stage: 'fetch', queues: [] },
  ]
}

export function emptyShare(queue: DataQueue): number | null {
  return queue.samples && queue.empty_count !== null ? queue.empty_count / queue.samples : null
}

/** Whether anything was recorded of how data reaches training. */
export function isTold({ data_bound, queues, operators }: Pipeline): boolean {
  return data_bound !== null || queues.length > 0 || operators.length > 0
}

/** Whether a part holds the first batch alone, for which the loader starts: training waits for none that counts. */
export function isFirstOnly({ first_wait_ns, mean_wait_ns }: NonNullable<Pipeline['data_bound']>): boolean {
  return first_wait_ns !== null && mean_wait_ns === null
}

/** Whether the source tells the queues between operators of all steps together, not of those chosen. */
export function isOfWholeOnly({ range, operators }: Pick<Pipeline, 'range' | 'operators'>): boolean {
  return range !== null && operators.some(({ output_queue }) => output_queue?.samples === null)
}

// ---- the graph ----

export interface Node {
  /** Null stands for training. */
  readonly op: PipelineOperator | null
  readonly column: number
  readonly row: number
}

export interface Pipe {
  readonly from: Node & { readonly op: PipelineOperator }
  readonly to: Node
  readonly queue: OutputQueue | null
}

export interface Graph {
  readonly nodes: readonly Node[]
  readonly pipes: readonly Pipe[]
  readonly columns: number
  readonly rows: number
}

/** Operators in columns, those that read first at the left, training at the right; a row for each reader. */
export function layOut(all: readonly PipelineOperator[]): Graph {
  const operators = all.filter((op) => !isInline(op))
  const ids = new Set(operators.map(({ op_id }) => op_id))
  const childrenOf = (id: number | null) =>
    operators.filter(({ op_id, parent_id }) => op_id !== id && (parent_id !== null && ids.has(parent_id) ? parent_id : null) === id)
  const placed = new Map<number, { op: PipelineOperator; depth: number; row: number }>()
  let rows = 0
  const place = (op: PipelineOperator, depth: number): number => {
    placed.set(op.op_id, { op, depth, row: 0 })
    const below = childrenOf(op.op_id).filter(({ op_id }) => !placed.has(op_id)).map((child) => place(child, depth + 1))
    const row = below.length === 0 ? rows++ : below.reduce((sum, each) => sum + each, 0) / below.length
    placed.set(op.op_id, { op, depth, row })
    return row
  }
  const roots = childrenOf(null).map((op) => place(op, 1))
  const deepest = Math.max(0, ...[...placed.values()].map(({ depth }) => depth))
  const training: Node = { op: null, column: deepest, row: roots.length === 0 ? 0 : roots.reduce((sum, each) => sum + each, 0) / roots.length }
  const nodes = new Map([...placed].map(([id, { op, depth, row }]) => [id, { op, column: deepest - depth, row }]))
  const pipes = [...nodes.values()].map((from) => ({
    from,
    to: (from.op.parent_id === null ? undefined : nodes.get(from.op.parent_id)) ?? training,
    queue: from.op.output_queue,
  }))
  return { nodes: [...nodes.values(), training], pipes, columns: deepest + 1, rows: Math.max(rows, 1) }
}

/** What follows the last queue and was not timed, as counting epochs, takes no place. */
function isInline({ parent_id, output_queue, total_ns }: PipelineOperator): boolean {
  return parent_id === null && output_queue === null && total_ns === null
}

/** The name of the recorded queue behind an operator, null where none was looked at over time. */
export function curveOf(op: PipelineOperator, operators: readonly PipelineOperator[], pipeline: Pick<Pipeline, 'queues'>, names: readonly string[]): string | null {
  const own = `op ${op.op_id}`
  if (names.includes(own)) return own
  const last = operators.find(({ output_queue }) => output_queue !== null)
  return last?.op_id === op.op_id ? (pipeline.queues.find(({ stage }) => stage !== 'send')?.queue ?? null) : null
}

// ---- the bottleneck ----

export type Reason =
  | { readonly because: 'time'; readonly per_batch_ns: number; readonly share: number }
  | { readonly because: 'drop'; readonly input: number; readonly output: number }
  | { readonly because: 'reading' }
  | { readonly because: 'following' }

/** Why the operator is the one that holds the pipeline up, from the numbers that say so. */
export function reasonOf(slow: PipelineOperator, operators: readonly PipelineOperator[]): Reason {
  const timed = operators.filter(({ total_ns }) => total_ns !== null)
  if (slow.total_ns !== null && slow.count) {
    // Operators of one type were timed together.
    const byType = new Map(timed.map(({ op_type, total_ns }) => [op_type, total_ns!]))
    const whole = [...byType.values()].reduce((sum, ns) => sum + ns, 0)
    return { because: 'time', per_batch_ns: slow.total_ns / slow.count, share: slow.total_ns / whole }
  }
  const inputs = inputUses(slow, operators)
  const output = slow.output_queue?.usage_share ?? null
  if (inputs.length > 0 && output !== null && Math.min(...inputs) > output) return { because: 'drop', input: Math.min(...inputs), output }
  return { because: inputs.length === 0 ? 'reading' : 'following' }
}

/** How full the queues before an operator are; one without a queue passes on what feeds it. */
export function inputUses(op: PipelineOperator, operators: readonly PipelineOperator[]): number[] {
  return operators
    .filter(({ parent_id, op_id }) => parent_id === op.op_id && op_id !== op.op_id)
    .flatMap((child) => {
      const use = child.output_queue?.usage_share
      return use == null ? inputUses(child, operators.filter((each) => each !== op)) : [use]
    })
}

/** Fewer than one batch in twenty found no data. */
export function isHarmless({ data_bound: bound }: Pick<Pipeline, 'data_bound'>): boolean {
  return bound !== null && bound.waits !== null && bound.waits * 20 < bound.batches && (bound.share_of_step ?? 0) < 0.1
}
