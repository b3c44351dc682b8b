import type { StepUse } from '../../api/shapes'
import { type ChartOption, hatch, legend, type Look, nameAxis, tooltip, valueAxis, zoom } from '../../components/chart/look'
import { timeTick } from '../../lib/ticks'
import { share, time } from '../../lib/units'
import type { Texts } from '../../texts/catalogues'

/** From so many steps on, a slider helps. */
const MANY = 40

interface Item {
  readonly dataIndex: number
}

export function busyOption(steps: readonly StepUse[], look: Look, texts: Texts['utilisation']): ChartOption {
  return {
    ...frame(steps, look, texts),
    tooltip: tooltip(look, {
      formatter: ([item]: readonly Item[]) => {
        const step = steps[item?.dataIndex ?? 0]!
        return `${texts.step} ${step.step}\n${texts.busyShare}: ${share(step.busy_share)}, ${time(step.busy_ns)}`
      },
    }),
    yAxis: valueAxis(look, 'share', { min: 0, max: 1, interval: 0.25, axisLabel: { color: look.dimmed, formatter: (value: number) => `${Math.round(value * 100)}\u00a0%` } }),
    series: [
      { name: texts.busyShare, type: 'bar', stack: 'step', barMaxWidth: 48, color: look.kinds.compute, data: steps.map((step) => step.busy_share), cursor: 'pointer' },
      { name: texts.kinds.idle, type: 'bar', stack: 'step', barMaxWidth: 48, itemStyle: { ...hatch(look.kinds.idle, look.card), opacity: 0.35 }, data: steps.map((step) => (step.busy_share === null ? null : 1 - step.busy_share)), cursor: 'pointer' },
    ],
    legend: legend(look),
  }
}

export function communicationOption(steps: readonly StepUse[], look: Look, texts: Texts['utilisation']): ChartOption {
  return {
    ...frame(steps, look, texts),
    tooltip: tooltip(look, {
      formatter: ([item]: readonly Item[]) => {
        const step = steps[item?.dataIndex ?? 0]!
        const exposed = step.communication_ns && step.exposed_ns !== null ? ` (${share(step.exposed_ns / step.communication_ns)})` : ''
        return `${texts.step} ${step.step}\n${texts.kinds.communication}: ${time(step.communication_ns)}\n${texts.overlapped}: ${time(step.overlapped_ns)}\n${texts.exposedPart}: ${time(step.exposed_ns)}${exposed}`
      },
    }),
    yAxis: valueAxis(look, 'time', { min: 0, axisLabel: { color: look.dimmed, formatter: timeTick } }),
    series: [
      { name: texts.overlapped, type: 'bar', stack: 'step', barMaxWidth: 48, color: look.kinds.communication, itemStyle: { opacity: 0.4 }, data: steps.map((step) => step.overlapped_ns), cursor: 'pointer' },
      { name: texts.exposedPart, type: 'bar', stack: 'step', barMaxWidth: 48, itemStyle: hatch(look.kinds.communication, look.card), data: steps.map((step) => step.exposed_ns), cursor: 'pointer' },
    ],
    legend: legend(look),
  }
}

function frame(steps: readonly StepUse[], look: Look, texts: Texts['utilisation']): ChartOption {
  const slider = steps.length > MANY
  return {
    grid: { left: 8, right: 16, top: 36, bottom: slider ? 36 : 24, containLabel: true },
    xAxis: nameAxis(look, steps.map((step) => step.step), { name: texts.step, nameLocation: 'middle', nameGap: 24 }),
    ...(slider ? { dataZoom: zoom(look) } : {}),
  }
}
