import { expect, it } from 'vitest'
import { CATALOGUES } from '../texts/catalogues'
import { reasonText } from './reasons'

it('what the server says of a step is said in the language of the page', () => {
  const { reasons } = CATALOGUES.zh.steps
  expect(reasonText('no forward pass is known', reasons)).toBe(reasons.noForward)
  expect(reasonText('no slice named aten::to', reasons)).toContain('aten::to')
  expect(reasonText('something new', reasons)).toBe('something new')
})

it('English is word for word what the server says', () => {
  const { noSlice, ...fixed } = CATALOGUES.en.steps.reasons
  for (const text of Object.values(fixed)) expect(reasonText(text, CATALOGUES.en.steps.reasons)).toBe(text)
  expect(noSlice('x')).toContain('x')
})
