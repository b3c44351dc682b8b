import { useCallback, useMemo } from 'react'
import type { OperatorDetails } from '../../../api/shapes'
import { Chart } from '../../../components/chart/Chart'
import { type ChartOption, type Look, nameAxis, tooltip, valueAxis } from '../../../components/chart/look'
import { count, exactly, time } from '../../../lib/units'
import { useTexts } from '../../../state/language'

type OfStep = OperatorDetails['by_step'][number]

/** What it takes in each step; what lies outside of steps stands in the table alone. */
export function ByStep({ steps }: { steps: readonly OfStep[] }) {
  const { operators: { details: texts }, terms } = useTexts()
  const inside = useMemo(() => steps.filter(({ step }) => step !== null), [steps])
  const option = useCallback((look: Look) => bars(look, inside, texts.executions, terms.step.name), [inside, texts, terms])
  const table = () => ({
    columns: [terms.step.name, texts.executions, texts.times],
    rows: steps.map(({ step, count: executions, total_ns }) => [step ?? texts.noStep, executions, exactly(total_ns, 'time')] as const),
  })
  return <Chart label={texts.byStepLabel} option={option} table={table} height={160} />
}

function bars(look: Look, steps: readonly OfStep[], executions: string, step: string): ChartOption {
  const words = (at: number) => `${step} ${steps[at]!.step}\n${time(steps[at]!.total_ns)}\n${executions}: ${count(steps[at]!.count)}`
  return {
    grid: { left: 8, right: 16, top: 12, bottom: 20, containLabel: true },
    tooltip: tooltip(look, { formatter: (items: { dataIndex: number }[]) => words(items[0]!.dataIndex) }),
    xAxis: nameAxis(look, steps.map((each) => each.step!), { name: step, nameLocation: 'middle', nameGap: 24 }),
    yAxis: valueAxis(look, 'time', { splitNumber: 3 }),
    series: [{ type: 'bar', data: steps.map((each) => each.total_ns), barMaxWidth: 28, itemStyle: { color: look.kinds.compute } }],
  }
}
