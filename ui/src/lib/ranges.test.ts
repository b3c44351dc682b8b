import { expect, test } from 'vitest'
import { holdsStep, outerBounds, parseSteps, stepsText } from './ranges'

test.each(['3-7', '3-', '-7', '5', '3,5-9'])('%s reads and writes the same', (text) => {
  expect(stepsText(parseSteps(text)!)).toBe(text)
})

test.each(['', '-', 'a', '7-3', '1-2-3', '3,'])('%s is no range', (text) => {
  expect(parseSteps(text)).toBeNull()
})

test('open ends hold all steps of their side', () => {
  expect(holdsStep(parseSteps('3-'), 100)).toBe(true)
  expect(holdsStep(parseSteps('-7'), 8)).toBe(false)
  expect(holdsStep(parseSteps('3,5'), 4)).toBe(false)
  expect(holdsStep(null, 8)).toBe(true)
})

test('bounds are steps that exist', () => {
  expect(outerBounds(parseSteps('3-'), [1, 2, 4, 9])).toEqual([4, 9])
  expect(outerBounds(parseSteps('20-'), [1, 2])).toBeNull()
})
