/** The pages of a run that there are, in the order of the navigation. A new page adds its line here. */
import { type ComponentType, lazy, type LazyExoticComponent } from 'react'
import { type Icon, FilesIcon, MemoryIcon, OperatorsIcon, OverviewIcon, PipelineIcon, StepsIcon, UtilisationIcon } from '../components/icons'
import type { Texts } from '../texts/catalogues'

export interface PageProps {
  readonly run: string
}

/** Areas of texts that have a title and a question. */
type Area = { [Name in keyof Texts]: Texts[Name] extends { title: string; question: string } ? Name : never }[keyof Texts]

type View = () => Promise<{ default: ComponentType<PageProps> }>

export interface Page {
  /** The last part of its address, and its area of the texts. */
  readonly name: Area
  readonly icon: Icon
  /** Fetches its code; what was fetched once is there. */
  readonly load: View
  readonly view: LazyExoticComponent<ComponentType<PageProps>>
}

function page(name: Area, icon: Icon, load: View): Page {
  return { name, icon, load, view: lazy(load) }
}

export const PAGES: readonly Page[] = [
  page('overview', OverviewIcon, () => import('./overview/Overview')),
  page('steps', StepsIcon, () => import('./steps/Steps')),
  page('operators', OperatorsIcon, () => import('./operators/Operators')),
  page('pipeline', PipelineIcon, () => import('./pipeline/Pipeline')),
  page('memory', MemoryIcon, () => import('./memory/Memory')),
  page('utilisation', UtilisationIcon, () => import('./utilisation/Utilisation')),
  page('files', FilesIcon, () => import('./files/Files')),
]
