import { describe, expect, test } from 'vitest'
import { contrast, KIND_COLOURS, kindOfSlice, ON_KIND, type Scheme, SERIES, SURFACE } from './colours'

describe.each<Scheme>(['light', 'dark'])('%s theme', (scheme) => {
  const surface = SURFACE[scheme]

  test.each(Object.entries(KIND_COLOURS[scheme]))('%s can be read on a card and written on', (_, colour) => {
    expect(contrast(colour, surface.card)).toBeGreaterThanOrEqual(4.5)
    expect(contrast(colour, ON_KIND[scheme])).toBeGreaterThanOrEqual(4.5)
  })

  test.each(SERIES[scheme])('series %s stands out', (colour) => {
    expect(contrast(colour, surface.card)).toBeGreaterThanOrEqual(3)
  })

  test.each(['page', 'card'] as const)('texts can be read on the %s', (background) => {
    expect(contrast(surface.text, surface[background])).toBeGreaterThanOrEqual(4.5)
    expect(contrast(surface.dimmed, surface[background])).toBeGreaterThanOrEqual(4.5)
  })
})

test('kinds of slices have the colour of their part of the budget', () => {
  expect(kindOfSlice('kernel')).toBe('compute')
  expect(kindOfSlice('memset')).toBe('copy')
  expect(kindOfSlice('what is to come')).toBe('scope')
})
