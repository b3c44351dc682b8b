/** Why a step is left out, in the language of the page; what the server says otherwise stays as it is. */
import type { Texts } from '../texts/catalogues'

type Reasons = Texts['steps']['reasons']

const KNOWN: Record<string, Exclude<keyof Reasons, 'noSlice'>> = {
  'not whole: the recording begins or ends inside it': 'notWhole',
  'no forward pass is known': 'noForward',
  'no backward pass is known': 'noBackward',
  'backward ends outside the step or before forward starts': 'order',
  'first of its window: no step before it, so its interval is unknown': 'first',
  'first of its window: no step before it, so its interval is unknown; left out of averages': 'firstLeftOut',
}

export function reasonText(reason: string, texts: Reasons): string {
  const known = KNOWN[reason]
  if (known) return texts[known]
  const [, name] = /^no slice named (.+)$/s.exec(reason) ?? []
  return name === undefined ? reason : texts.noSlice(name)
}
