import type { SliceFacts } from '../../api/shapes'
import { useTexts } from '../../state/language'
import styles from './Slice.module.css'

/** Innermost first, as the recording has it. */
export function StackFrames({ frames }: { frames: SliceFacts['stack'] }) {
  return (
    <ol className={styles.stack}>
      {frames.map((frame, at) => (
        <li key={at}>
          <code>{frame.function}</code>
          {frame.file !== null && <small>{frame.line === null ? frame.file : `${frame.file}:${frame.line}`}</small>}
        </li>
      ))}
    </ol>
  )
}

export function Tensors({ inputs, outputs }: Pick<SliceFacts, 'inputs' | 'outputs'>) {
  const { slice: texts } = useTexts()
  const rows = [...inputs.map((tensor) => ({ side: texts.input, ...tensor })), ...outputs.map((tensor) => ({ side: texts.output, ...tensor }))]
  return (
    <table className={styles.tensors}>
      <tbody>
        {rows.map(({ side, shape, data_type, format }, at) => (
          <tr key={at}><th scope="row">{side}</th><td>{shape}</td><td>{data_type}</td><td>{format}</td></tr>
        ))}
      </tbody>
    </table>
  )
}
