import { SPACE } from './units'

/** How far something has come, in whole percent. */
export function percent(fraction: number): string {
  return `${Math.floor(fraction * 100)}${SPACE}%`
}
