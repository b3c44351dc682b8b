import { expect, test } from 'vitest'
import { counterText, isBytes } from './counters'
import { SPACE } from './units'

test.each([
  [{ name: 'reserved bytes of cuda:0', unit: 'bytes' }, true],
  [{ name: 'cpu0:0_alloc_mem', unit: null }, true],
  [{ name: 'nr_alive_tensor', unit: null }, false],
  [{ name: 'memory clock', unit: 'MHz' }, false],
])('%o counts bytes: %s', (counter, is) => expect(isBytes(counter)).toBe(is))

test.each([
  [2048, { name: 'a', unit: 'bytes' }, '2.00 KiB'],
  [98.76, { name: 'processor use', unit: 'percent' }, '98.8 %'],
  [1800, { name: 'clock', unit: 'MHz' }, '1,800 MHz'],
  [0.5, { name: 'ratio', unit: null }, '0.500'],
  [null, { name: 'ratio', unit: null }, '–'],
])('%s of %o reads %s', (value, counter, text) => expect(counterText(value, counter).replaceAll(SPACE, ' ')).toBe(text))
