import { expect, test } from 'vitest'
import { asProblem, problemOf } from './problem'

test('an error tells what, where and the remedy', async () => {
  const body = { error: 'not imported yet', where: 'run a', remedy: 'import it' }
  const problem = await problemOf(new Response(JSON.stringify(body), { status: 409 }))
  expect(problem).toMatchObject({ status: 409, what: 'not imported yet', where: 'run a', remedy: 'import it', notImported: true })
})

test('an answer that is no JSON has its status at least', async () => {
  expect(await problemOf(new Response('<html>', { status: 404, statusText: 'Not Found' }))).toMatchObject({ what: 'Not Found', missing: true })
})

test('what never reached the server is unreachable', () => {
  expect(asProblem(new TypeError('Failed to fetch'))).toMatchObject({ unreachable: true, what: 'Failed to fetch' })
})
