import { useElementSize } from '@mantine/hooks'
import type { PipelineOperator } from '../../../api/shapes'
import { share } from '../../../lib/units'
import { useTexts } from '../../../state/language'
import type { Graph, Node, Pipe } from '../model'
import styles from './PipeGraph.module.css'

interface PipeGraphProps {
  readonly graph: Graph
  /** Operator that holds the pipeline up. */
  readonly slow: number | null
  readonly selected: PipelineOperator | null
  readonly onChoose: (op: PipelineOperator) => void
}

const NODE = { width: 104, height: 60 }
const ROW = 96
const ROOM = { least: 56, most: 150 }
/** Of a queue that is always full. */
const THICK = 22

/** Operators joined by pipes as thick as their queues are full; a click on one chooses its queue. */
export function PipeGraph({ graph, slow, selected, onChoose }: PipeGraphProps) {
  const { pipeline: texts } = useTexts()
  const { ref, width } = useElementSize()
  const room = Math.max(ROOM.least, Math.min(ROOM.most, (width - NODE.width * graph.columns) / Math.max(graph.columns - 1, 1)))
  const place = ({ column, row }: Node) => ({ left: column * (NODE.width + room), top: row * ROW + (ROW - NODE.height) / 2 })
  const size = { width: graph.columns * NODE.width + (graph.columns - 1) * room, height: graph.rows * ROW }
  const ends = ({ from, to }: Pipe) => {
    const [one, other] = [place(from), place(to)]
    return { x1: one.left + NODE.width, y1: one.top + NODE.height / 2, x2: other.left, y2: other.top + NODE.height / 2 }
  }
  return (
    <div ref={ref} className={styles.scroll} tabIndex={0} role="region" aria-label={texts.graph}>
      <div className={styles.graph} style={size}>
        <svg width={size.width} height={size.height} aria-hidden="true">
          {graph.pipes.map((pipe) => <Drawn key={pipe.from.op.op_id} pipe={pipe} ends={ends(pipe)} selected={pipe.from.op === selected} onChoose={() => pipe.queue !== null && onChoose(pipe.from.op)} />)}
        </svg>
        {graph.nodes.map((node) => <Operator key={node.op?.op_id ?? 'training'} node={node} slow={node.op !== null && node.op.op_id === slow} style={{ ...place(node), ...NODE }} />)}
        {graph.pipes.map((pipe) => <PipeLabel key={pipe.from.op.op_id} pipe={pipe} ends={ends(pipe)} selected={pipe.from.op === selected} onChoose={() => onChoose(pipe.from.op)} />)}
      </div>
    </div>
  )
}

interface PipeProps {
  readonly pipe: Pipe
  readonly ends: { readonly x1: number; readonly y1: number; readonly x2: number; readonly y2: number }
  readonly selected: boolean
  readonly onChoose: () => void
}

function Drawn({ pipe, ends: { x1, y1, x2, y2 }, selected, onChoose }: PipeProps) {
  const middle = (x1 + x2) / 2
  const path = `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`
  const use = pipe.queue?.usage_share ?? null
  if (pipe.queue === null) return <path d={path} className={styles.joint} />
  return (
    <g className={styles.pipe} onClick={onChoose} data-selected={selected}>
      <path d={path} strokeWidth={THICK + 4} className={styles.wall} />
      <path d={path} strokeWidth={THICK} className={styles.room} />
      {use !== null && <path d={path} strokeWidth={Math.max(2, use * THICK)} className={styles.fill} />}
    </g>
  )
}

function PipeLabel({ pipe, ends: { x1, y1, x2, y2 }, selected, onChoose }: PipeProps) {
  const { pipeline: texts } = useTexts()
  if (pipe.queue === null) return null
  const next = pipe.to.op?.name ?? texts.training
  const use = pipe.queue.usage_share
  const style = { left: (x1 + x2) / 2, top: Math.min(y1, y2) + Math.abs(y1 - y2) / 2 - THICK / 2 - 22 }
  return (
    <button type="button" className={`numbers ${styles.label}`} style={style} aria-pressed={selected} aria-label={texts.pipe(pipe.from.op.name, next, use === null ? null : share(use))} onClick={onChoose}>
      {share(use)}
    </button>
  )
}

function Operator({ node, slow, style }: { node: Node; slow: boolean; style: object }) {
  const { pipeline: texts } = useTexts()
  const { op } = node
  if (op === null) return <div className={styles.node} data-training="true" style={style}><strong>{texts.training}</strong></div>
  return (
    <div className={styles.node} data-slow={slow} style={style} title={op.name}>
      <strong>{op.name}</strong>
      <small>{op.workers === null ? texts.workersUnknown : texts.workers(op.workers)}</small>
      {slow && <em>{texts.slowest}</em>}
    </div>
  )
}
