import { type MantineColorScheme, useMantineColorScheme } from '@mantine/core'
import { useEffect, useEffectEvent } from 'react'
import { useLocation } from 'wouter'
import { usePageAddress, usePlace } from '../state/address'
import { PAGES } from '../views/pages'

export interface KeyActions {
  readonly help: () => void
  readonly navigation: () => void
  readonly findings: () => void
}

const SCHEMES: readonly MantineColorScheme[] = ['auto', 'light', 'dark']

/** Keys that work on every page, unless one writes or a panel is open. */
export function useKeys(actions: KeyActions): void {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const { run } = usePlace()
  const address = usePageAddress()
  const [, go] = useLocation()
  const pressed = useEffectEvent((event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || writes(event.target) || document.querySelector('[role=dialog]')) return
    const page = /^[1-9]$/.test(event.key) ? PAGES[Number(event.key) - 1] : undefined
    const keys: Record<string, () => void> = {
      '?': actions.help,
      '[': actions.navigation,
      ']': actions.findings,
      t: () => setColorScheme(SCHEMES[(SCHEMES.indexOf(colorScheme) + 1) % SCHEMES.length]!),
      r: () => go('/'),
      '/': () => document.querySelector<HTMLInputElement>('input[data-search]')?.focus(),
    }
    const act = page && run !== null ? () => go(address(run, page.name)) : keys[event.key]
    if (!act) return
    event.preventDefault()
    act()
  })
  useEffect(() => {
    const listen = (event: KeyboardEvent) => pressed(event)
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])
}

function writes(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName))
}
