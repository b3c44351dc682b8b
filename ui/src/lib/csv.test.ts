import { expect, test } from 'vitest'
import { csv } from './csv'

test('unknown is empty, objects are JSON, commas and quotes are kept', () => {
  const rows = [{ name: 'a,"b"', total_ns: 12, info: { input_shapes: [[1, 2]] } }, { name: 'c', total_ns: null, more: true }]
  expect(csv(rows).split('\r\n')).toEqual([
    'name,total_ns,info,more',
    '"a,""b""",12,"{""input_shapes"":[[1,2]]}",',
    'c,,,true',
    '',
  ])
})
