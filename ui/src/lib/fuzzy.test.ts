import { expect, test } from 'vitest'
import { fuzzySearch, matchScore } from './fuzzy'

const NAMES = ['aten::convolution_backward', 'aten::conv2d', 'ncclDevKernel_AllReduce_Sum_f32', 'Memcpy HtoD']
const search = (query: string) => fuzzySearch(NAMES, query, (name) => name)

test('an empty query keeps all in their order', () => {
  expect(search('  ')).toEqual(NAMES)
})

test('letters in order find names, words in any order too', () => {
  expect(search('allred')).toEqual(['ncclDevKernel_AllReduce_Sum_f32'])
  expect(search('backward conv')).toEqual(['aten::convolution_backward'])
  expect(search('cnv2d')).toEqual(['aten::conv2d'])
})

test('what does not answer is left out, letters spread over a long name too', () => {
  expect(search('xyz')).toEqual([])
  expect(matchScore('a' + 'x'.repeat(40) + 'b' + 'x'.repeat(40) + 'c', 'abc')).toBeNull()
})

test('starts of words come first', () => {
  expect(fuzzySearch(['unconv', 'conv'], 'conv', (name) => name)).toEqual(['conv', 'unconv'])
})
