// @vitest-environment jsdom
import { cleanup, fireEvent, screen } from '@testing-library/react'
import { afterEach, expect, test } from 'vitest'
import { show } from '../testing/render'
import { usePageAddress, useParam, useSelection } from './address'

afterEach(cleanup)

function Probe() {
  const selection = useSelection()
  const address = usePageAddress()
  const [, setTab] = useParam('tab')
  return (
    <>
      <output>{JSON.stringify(selection)}</output>
      <a href={address('a run', 'steps', { step: '3' })}>steps</a>
      <button type="button" onClick={() => setTab('host')}>tab</button>
    </>
  )
}

test('the address says what is chosen; what makes no sense counts as not chosen', () => {
  show(<Probe />, { path: '/runs/x/overview?rank=1&device=none&steps=2-14' })
  expect(JSON.parse(screen.getByRole('status').textContent)).toEqual({ rank: 1, device: null, steps: '2-14' })
})

test('another page keeps rank and steps, not what belongs to this page', () => {
  show(<Probe />, { path: '/runs/x/overview?rank=1&steps=2-14&slice=7' })
  expect(screen.getByText('steps').getAttribute('href')).toBe('/runs/a%20run/steps?step=3&rank=1&steps=2-14')
})

test('a choice of the page goes into the address', () => {
  const { places } = show(<Probe />, { path: '/runs/x/overview?rank=1' })
  fireEvent.click(screen.getByText('tab'))
  expect(places?.at(-1)).toContain('tab=host')
  expect(places?.at(-1)).toContain('rank=1')
})
