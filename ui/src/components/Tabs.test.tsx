// @vitest-environment jsdom
import { cleanup, fireEvent, screen } from '@testing-library/react'
import { useState } from 'react'
import { afterEach, expect, test } from 'vitest'
import { show } from '../testing/render'
import { Tabs } from './Tabs'

afterEach(cleanup)

const TABS = ['Device', 'AI Core', 'Host'].map((name) => ({ id: name, name }))

function Probe() {
  const [chosen, choose] = useState('Device')
  return <Tabs label="Where" tabs={TABS} chosen={chosen} onChoose={choose} />
}

test('arrows go round the tabs, and one tab alone is reached by Tab', () => {
  show(<Probe />)
  const chosen = () => screen.getAllByRole('tab').filter((tab) => tab.getAttribute('aria-selected') === 'true').map((tab) => tab.textContent)
  const press = (key: string) => fireEvent.keyDown(screen.getByRole('tab', { selected: true }), { key })
  press('ArrowLeft')
  expect(chosen()).toEqual(['Host'])
  expect(document.activeElement?.textContent).toBe('Host')
  press('ArrowRight')
  press('ArrowRight')
  expect(chosen()).toEqual(['AI Core'])
  expect(screen.getAllByRole('tab').map((tab) => tab.tabIndex)).toEqual([-1, 0, -1])
})
