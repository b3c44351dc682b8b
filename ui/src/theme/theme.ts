import { createTheme, type CSSVariablesResolver, Drawer, type MantineColorsTuple, Modal, Tooltip } from '@mantine/core'
import { type Kind, KIND_COLOURS, ON_KIND, type Scheme, SURFACE } from '../lib/colours'

const BLUE: MantineColorsTuple = [
  '#e8f2fc', '#cfe3f7', '#a2c8ee', '#70aae5', '#4890dc', '#2b7fd3', '#1a74cc', '#0a66b7', '#0b5aa2', '#084b88',
]

/** System fonts; those with Chinese characters last, so that they serve what the others lack. */
export const FONT =
  'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", "WenQuanYi Micro Hei", sans-serif'

/** Dark surfaces of Mantine, from texts to what lies lowest, in the tone of ours. */
const DARK: MantineColorsTuple = [
  '#e4e9f1', '#c3ccd9', '#a3aebf', '#7f8b9d', '#3d4858', '#333d4b', '#232b37', '#1a202a', '#151a22', '#12161d',
]

// A drawer's header would be a second banner of the page.
const plainHeader = {
  defaultProps: { attributes: { header: { role: 'none' } } },
  styles: { content: { background: 'var(--card)' }, header: { background: 'var(--card)' } },
}

export const theme = createTheme({
  primaryColor: 'lap',
  primaryShade: { light: 7, dark: 7 },
  colors: { lap: BLUE, dark: DARK },
  fontFamily: FONT,
  headings: { fontFamily: FONT, fontWeight: '650' },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Modal: Modal.extend(plainHeader),
    Drawer: Drawer.extend(plainHeader),
    Tooltip: Tooltip.extend({ defaultProps: { withArrow: true, openDelay: 150, events: { hover: true, focus: true, touch: true } } }),
  },
})

function variables(scheme: Scheme): Record<string, string> {
  const kinds = Object.entries(KIND_COLOURS[scheme]).map(([kind, colour]) => [`--kind-${kind as Kind}`, colour])
  const surface = SURFACE[scheme]
  return {
    ...Object.fromEntries(kinds),
    '--on-kind': ON_KIND[scheme],
    '--page': surface.page,
    '--card': surface.card,
    '--line': surface.line,
    '--mantine-color-body': surface.page,
    '--mantine-color-text': surface.text,
    '--mantine-color-dimmed': surface.dimmed,
    '--mantine-color-default-border': surface.line,
    '--mantine-color-anchor': scheme === 'light' ? BLUE[7] : KIND_COLOURS.dark.compute,
    '--mantine-color-placeholder': surface.dimmed,
    '--mantine-color-error': KIND_COLOURS[scheme].sync,
  }
}

export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: variables('light'),
  dark: variables('dark'),
})
