/** The pages of a run that there are, in the order of the navigation. A new page adds its line here. */
import { type ComponentType, lazy, type LazyExoticComponent } from 'react'
import { FilesIcon, type Icon, MemoryIcon, OperatorsIcon, OverviewIcon, PipelineIcon, UtilisationIcon } from '../components/icons'
import type { Texts } from '../texts/catalogues'

export interface PageProps {
  readonly run: string
}

/** Areas of texts that have a title and a question. */
type Area = { [Name in keyof Texts]: Texts[Name] extends { title: string; question: string } ? Name : never }[keyof Texts]

export interface Page {
  /** The last part of its address, and its area of the texts. */
  readonly name: Area
  readonly icon: Icon
  readonly view: LazyExoticComponent<ComponentType<PageProps>>
}

export const PAGES: readonly Page[] = [
  { name: 'overview', icon: OverviewIcon, view: lazy(() => import('./overview/Overview')) },
  { name: 'operators', icon: OperatorsIcon, view: lazy(() => import('./operators/Operators')) },
  { name: 'pipeline', icon: PipelineIcon, view: lazy(() => import('./pipeline/Pipeline')) },
  { name: 'memory', icon: MemoryIcon, view: lazy(() => import('./memory/Memory')) },
  { name: 'utilisation', icon: UtilisationIcon, view: lazy(() => import('./utilisation/Utilisation')) },
  { name: 'files', icon: FilesIcon, view: lazy(() => import('./files/Files')) },
]
