/** All texts. A page adds its file to both languages and a line to each list; what Chinese lacks fails `tsc`. */
import { frame as englishFrame } from './en/frame'
import { table as englishTable } from './en/table'
import { terms as englishTerms } from './en/terms'
import { slice as englishSlice } from './en/slice'
import { findings as englishFindings } from './en/findings'
import { runs as englishRuns } from './en/runs'
import { overview as englishOverview } from './en/overview'
import { steps as englishSteps } from './en/steps'
import { operators as englishOperators } from './en/operators'
import { pipeline as englishPipeline } from './en/pipeline'
import { memory as englishMemory } from './en/memory'
import { utilisation as englishUtilisation } from './en/utilisation'
import { files as englishFiles } from './en/files'
import { saved as englishSaved } from './en/saved'
import { frame as chineseFrame } from './zh/frame'
import { table as chineseTable } from './zh/table'
import { terms as chineseTerms } from './zh/terms'
import { slice as chineseSlice } from './zh/slice'
import { findings as chineseFindings } from './zh/findings'
import { runs as chineseRuns } from './zh/runs'
import { overview as chineseOverview } from './zh/overview'
import { steps as chineseSteps } from './zh/steps'
import { operators as chineseOperators } from './zh/operators'
import { pipeline as chinesePipeline } from './zh/pipeline'
import { memory as chineseMemory } from './zh/memory'
import { utilisation as chineseUtilisation } from './zh/utilisation'
import { files as chineseFiles } from './zh/files'
import { saved as chineseSaved } from './zh/saved'
import chineseProblems from './zh/problems.json'
import type { ProblemTexts } from '../lib/problems'
import type { Language } from '../state/preferences'

const en = {
  frame: englishFrame,
  table: englishTable,
  terms: englishTerms,
  slice: englishSlice,
  findings: englishFindings,
  runs: englishRuns,
  overview: englishOverview,
  steps: englishSteps,
  operators: englishOperators,
  pipeline: englishPipeline,
  memory: englishMemory,
  utilisation: englishUtilisation,
  files: englishFiles,
  saved: englishSaved,
  problems: {} as ProblemTexts,
}

export type Texts = typeof en

const zh: Texts = {
  frame: chineseFrame,
  table: chineseTable,
  terms: chineseTerms,
  slice: chineseSlice,
  findings: chineseFindings,
  runs: chineseRuns,
  overview: chineseOverview,
  steps: chineseSteps,
  operators: chineseOperators,
  pipeline: chinesePipeline,
  memory: chineseMemory,
  utilisation: chineseUtilisation,
  files: chineseFiles,
  saved: chineseSaved,
  problems: chineseProblems,
}

export const CATALOGUES: Record<Language, Texts> = { en, zh }

export type Term = keyof Texts['terms']
