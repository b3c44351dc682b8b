import { useCallback } from 'react'
import type { StepUse } from '../../api/shapes'
import { Card } from '../../components/Card'
import { Chart } from '../../components/chart/Chart'
import type { ChartClick } from '../../components/chart/useEngine'
import type { Look } from '../../components/chart/look'
import { EmptyState } from '../../components/EmptyState'
import { exactly, share } from '../../lib/units'
import { useParam } from '../../state/address'
import { useTexts } from '../../state/language'
import { useSaved } from '../../state/saved'
import { busyOption, communicationOption } from './stepOptions'
import styles from './Utilisation.module.css'

/** Busy share and communication of each step. */
export function StepsCards({ steps, how }: { steps: readonly StepUse[]; how: string | undefined }) {
  const { utilisation: texts } = useTexts()
  const known = steps.filter((step) => step.busy_ns !== null)
  if (steps.length === 0) return <Card title={texts.steps}><EmptyState what={texts.noSteps} code={how} /></Card>
  const leftOut = steps.length - known.length
  return (
    <>
      {known.length > 0 && <Busy steps={known} leftOut={leftOut} />}
      <Communication steps={known} />
    </>
  )
}

function Busy({ steps, leftOut }: { steps: readonly StepUse[]; leftOut: number }) {
  const { utilisation: texts } = useTexts()
  const choose = useChosenStep(steps)
  const chooses = !useSaved() && steps.length > 1
  const option = useCallback((look: Look) => busyOption(steps, look, texts), [steps, texts])
  return (
    <Card title={texts.steps} hint={`${texts.stepsHint} ${chooses ? texts.chooseStep : ''}`} evidence="launch_bound step_variation data_loading host_sync">
      <Chart label={texts.steps} option={option} height={220} onClick={choose}
        table={() => ({ columns: [texts.step, texts.busyShare], rows: steps.map((step) => [step.step, share(step.busy_share)]) })} />
      {leftOut > 0 && <p className={styles.note}>{texts.unknownSteps(leftOut)}</p>}
    </Card>
  )
}

function Communication({ steps }: { steps: readonly StepUse[] }) {
  const { utilisation: texts } = useTexts()
  const choose = useChosenStep(steps)
  const option = useCallback((look: Look) => communicationOption(steps, look, texts), [steps, texts])
  if (!steps.some((step) => step.communication_ns)) return null
  return (
    <Card title={texts.communicationSteps} hint={texts.communicationHint} evidence="exposed_communication serial_communication unbalanced_ranks">
      <Chart label={texts.communicationSteps} option={option} height={260} onClick={choose}
        table={() => ({
          columns: [texts.step, texts.overlapped, texts.exposedPart],
          rows: steps.map((step) => [step.step, exactly(step.overlapped_ns, 'time'), exactly(step.exposed_ns, 'time')]),
        })} />
    </Card>
  )
}

/** A click on a step chooses it in the header; again, all of them. */
function useChosenStep(steps: readonly StepUse[]): (click: ChartClick) => void {
  const [chosen, choose] = useParam('steps')
  return ({ dataIndex }) => {
    const step = steps[dataIndex]?.step
    if (step !== undefined) choose(chosen === String(step) ? null : String(step))
  }
}
