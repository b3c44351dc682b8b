/** Answers by their names, taken from the generated types. */
import type { paths } from './schema'

type Answer<Path extends keyof paths> = paths[Path] extends { get: { responses: { 200: { content: { 'application/json': infer Body } } } } } ? Body : never

export type RunList = Answer<'/api/runs'>
export type Run = Answer<'/api/runs/{run}'>
export type Report = Answer<'/api/runs/{run}/report'>
export type RankReport = Report['ranks'][number]
export type Finding = Report['findings'][number]
export type Steps = Answer<'/api/runs/{run}/step'>
export type Step = Steps['steps'][number]
export type SliceAnswer = Answer<'/api/runs/{run}/slices/{slice_id}'>
export type SliceFacts = NonNullable<SliceAnswer['slice']>
export type SliceReference = SliceFacts['parents'][number]
export type LinkedSlice = SliceAnswer['waited_for'][number]
export type Operators = Answer<'/api/runs/{run}/op'>
export type Memory = Answer<'/api/runs/{run}/memory'>
export type Timeline = Answer<'/api/runs/{run}/timeline'>
export type OperatorRow = Operators['rows'][number]
export type Pipeline = Answer<'/api/runs/{run}/pipeline'>
export type PipelineOperator = Pipeline['operators'][number]
export type OperatorDetails = Answer<'/api/runs/{run}/op/details'>
export type QueueSamples = Answer<'/api/runs/{run}/pipeline/samples'>
export type DataQueue = Pipeline['queues'][number]
export type OutputQueue = NonNullable<PipelineOperator['output_queue']>
export type MemoryCurve = Answer<'/api/runs/{run}/memory/curve'>
export type LiveBlocks = Answer<'/api/runs/{run}/memory/live'>
export type Block = LiveBlocks['owners'][number]
export type Allocation = Answer<'/api/runs/{run}/memory/allocations'>['rows'][number]
export type OperatorMemory = Answer<'/api/runs/{run}/memory/operators'>['rows'][number]
export type Counters = Answer<'/api/runs/{run}/counters'>
export type CounterCurve = MemoryCurve['counters'][number]
export type Utilisation = Answer<'/api/runs/{run}/utilisation'>
export type DeviceUse = Utilisation['devices'][number]
export type StreamUse = DeviceUse['streams'][number]
export type StepUse = Utilisation['steps'][number]
export type Collective = Utilisation['collectives'][number]
export type Contents = Answer<'/api/runs/{run}/files'>
export type Source = Contents['sources'][number]
