/** The pages of a run that there are, in the order of the navigation. A new page adds its line here. */
import { type Icon, FilesIcon, MemoryIcon, OperatorsIcon, OverviewIcon, PipelineIcon, StepsIcon, UtilisationIcon } from '../components/icons'
import type { Load } from '../frame/Code'
import type { Texts } from '../texts/catalogues'

export interface PageProps {
  readonly run: string
}

/** Areas of texts that have a title and a question. */
type Area = { [Name in keyof Texts]: Texts[Name] extends { title: string; question: string } ? Name : never }[keyof Texts]

/** What the header offers to choose, beside the rank. */
export type Choice = 'device' | 'steps'

export interface Page {
  /** The last part of its address, and its area of the texts. */
  readonly name: Area
  readonly icon: Icon
  /** Fetches its code. */
  readonly load: Load<PageProps>
  /** Choices of the header that change what it shows. */
  readonly takes: readonly Choice[]
}

function page(name: Area, icon: Icon, takes: readonly Choice[], load: Load<PageProps>): Page {
  return { name, icon, takes, load }
}

export const PAGES: readonly Page[] = [
  page('overview', OverviewIcon, ['steps'], () => import('./overview/Overview')),
  page('steps', StepsIcon, ['steps'], () => import('./steps/Steps')),
  page('operators', OperatorsIcon, ['device', 'steps'], () => import('./operators/Operators')),
  page('pipeline', PipelineIcon, ['steps'], () => import('./pipeline/Pipeline')),
  page('memory', MemoryIcon, ['steps'], () => import('./memory/Memory')),
  page('utilisation', UtilisationIcon, ['device', 'steps'], () => import('./utilisation/Utilisation')),
  page('files', FilesIcon, [], () => import('./files/Files')),
]
