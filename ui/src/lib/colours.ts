/** Colours by kind: the same on every page, safe for colour-blind eyes, checked for contrast beside this file. */

export type Kind = 'compute' | 'communication' | 'copy' | 'idle' | 'data' | 'sync' | 'launch' | 'host' | 'scope' | 'compile'

export type Scheme = 'light' | 'dark'

/** What cards and pages are painted with. */
export const SURFACE: Record<Scheme, { page: string; card: string; text: string; dimmed: string; line: string }> = {
  light: { page: '#f4f6f9', card: '#ffffff', text: '#1b2330', dimmed: '#566072', line: '#dfe4ec' },
  dark: { page: '#12161d', card: '#1a202a', text: '#e4e9f1', dimmed: '#a3aebf', line: '#2e3744' },
}

export const KIND_COLOURS: Record<Scheme, Record<Kind, string>> = {
  light: {
    compute: '#0a66b7',
    communication: '#b84f00',
    copy: '#0b7a55',
    idle: '#6b7686',
    data: '#7d45c0',
    sync: '#c0242f',
    launch: '#8a6100',
    host: '#0b7380',
    scope: '#5b6675',
    compile: '#a3317f',
  },
  dark: {
    compute: '#58a6f2',
    communication: '#f0954a',
    copy: '#46c194',
    idle: '#8f9bab',
    data: '#b892f2',
    sync: '#f47a78',
    launch: '#d9b24a',
    host: '#4bc1cd',
    scope: '#a3aebb',
    compile: '#e889c6',
  },
}

/** Text on a filled part. */
export const ON_KIND: Record<Scheme, string> = { light: '#ffffff', dark: '#10151c' }

/** For what has no kind of its own: operators side by side in a pie, ranks, queues. */
export const SERIES: Record<Scheme, readonly string[]> = {
  light: ['#0a66b7', '#b84f00', '#0b7a55', '#7d45c0', '#0b7380', '#a3317f', '#8a6100', '#3f52c4', '#c0242f', '#5b6675'],
  dark: ['#58a6f2', '#f0954a', '#46c194', '#b892f2', '#4bc1cd', '#e889c6', '#d9b24a', '#8d9bff', '#f47a78', '#a3aebb'],
}

/** Kinds of slices, as the recordings name them, to colours. */
const SLICE_KINDS: Record<string, Kind> = {
  kernel: 'compute',
  device_other: 'compute',
  communication: 'communication',
  copy: 'copy',
  memset: 'copy',
  data: 'data',
  sync: 'sync',
  launch: 'launch',
  op: 'host',
  python: 'host',
  host_other: 'host',
  compile: 'compile',
  step: 'scope',
  scope: 'scope',
}

export function kindOfSlice(kind: string): Kind {
  return SLICE_KINDS[kind] ?? 'scope'
}

/** The style variable that carries a colour, for use in CSS and style attributes. */
export function kindVariable(kind: Kind): string {
  return `var(--kind-${kind})`
}

/** Ratio of luminances as WCAG defines it. */
export function contrast(one: string, other: string): number {
  const [darker, lighter] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (lighter! + 0.05) / (darker! + 0.05)
}

function luminance(hex: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const channel = parseInt(hex.slice(at, at + 2), 16) / 255
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}
