/** Icons drawn for these pages: 20 x 20, in the colour of the text. They are decoration; a label stands beside each. */
import type { ReactElement } from 'react'

export interface IconProps {
  readonly size?: number
}

export type Icon = (props: IconProps) => ReactElement

function icon(...paths: string[]): Icon {
  return function Drawn({ size = 20 }) {
    return (
      <svg width={size} height={size} viewBox="0 0 20 20" fill="none" stroke="currentColor" strokeWidth={1.6} strokeLinecap="round" strokeLinejoin="round" aria-hidden="true" focusable="false">
        {paths.map((path) => <path key={path} d={path} />)}
      </svg>
    )
  }
}

export const RunsIcon = icon('M3 5h14M3 10h14M3 15h9')
export const OverviewIcon = icon('M3 3h6v8H3zM11 3h6v4h-6zM11 9h6v8h-6zM3 13h6v4H3z')
export const StepsIcon = icon('M3 17V9M8 17V4M13 17v-6M18 17V7')
export const OperatorsIcon = icon('M10 2.5a7.5 7.5 0 1 0 7.5 7.5H10z', 'M13 2.9A7.5 7.5 0 0 1 17.1 7H13z')
export const PipelineIcon = icon('M2 7h4v6H2zM14 7h4v6h-4zM6 10h8M11.5 7.5 14 10l-2.5 2.5')
export const MemoryIcon = icon('M5 4h10v12H5zM2 7h3M2 10h3M2 13h3M15 7h3M15 10h3M15 13h3')
export const UtilisationIcon = icon('M3.5 15a7.5 7.5 0 1 1 13 0', 'M10 11.5l3.5-4')
export const FilesIcon = icon('M5 2.5h6.5L16 7v10.5H5z', 'M11.5 2.5V7H16M8 11h5M8 14h5')
export const FindingsIcon = icon('M7.5 14.5h5M8.5 17.5h3', 'M7.5 14.5c0-2-2.5-3-2.5-6.5a5 5 0 0 1 10 0c0 3.5-2.5 4.5-2.5 6.5')
export const HelpIcon = icon('M10 17.5a7.5 7.5 0 1 0 0-15 7.5 7.5 0 0 0 0 15z', 'M7.8 7.800a2.2 2.2 0 1 1 3.2 2c-.7.4-1 .8-1 1.700M10 14v.1')
export const SunIcon = icon('M10 13.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7z', 'M10 1.5v2M10 16.5v2M1.5 10h2M16.5 10h2M4 4l1.4 1.400M14.600 14.600 16 16M4 16l1.4-1.400M14.600 5.4 16 4')
export const MoonIcon = icon('M16.5 12A7 7 0 0 1 8 3.5a7 7 0 1 0 8.5 8.5z')
export const AutoIcon = icon('M10 17.5a7.5 7.5 0 1 0 0-15 7.5 7.5 0 0 0 0 15z', 'M10 2.5v15M12 5.5v9M14 7v6')
export const LanguageIcon = icon('M2.5 5h8M6.5 3v2M9 5c-1 3.5-3 5.5-6 7M4.5 7.5c1 2 2.5 3.3 4.5 4.2', 'M9.5 17l3.5-8.5 3.5 8.5M10.8 14h4.4')
export const MenuIcon = icon('M3 5h14M3 10h14M3 15h14')
export const FoldIcon = icon('M12 5l-5 5 5 5')
export const UnfoldIcon = icon('M8 5l5 5-5 5')
export const DownIcon = icon('M5 8l5 5 5-5')
export const UpIcon = icon('M5 12l5-5 5 5')
export const SortIcon = icon('M6.5 8 10 4.5 13.5 8M6.5 12l3.5 3.5 3.5-3.5')
export const SearchIcon = icon('M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12zM13.5 13.5 17.5 17.5')
export const CopyIcon = icon('M7 7h10v10H7z', 'M13 7V3H3v10h4')
export const CheckIcon = icon('M4 10.5l4 4 8-9')
export const WarningIcon = icon('M10 3 1.8 17h16.400z', 'M10 8v4M10 14.5v.1')
export const TableIcon = icon('M3 4h14v12H3zM3 8h14M3 12h14M8 8v8')
export const DownloadIcon = icon('M10 3v9M6.5 9 10 12.5 13.5 9M3.5 16.5h13')
export const OpenIcon = icon('M8 4H4v12h12v-4M11.5 3.5h5v5M16.5 3.5 9 11')
