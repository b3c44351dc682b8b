import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { usePageAddress } from '../state/address'
import { useTexts } from '../state/language'
import { useSaved } from '../state/saved'
import { PAGES } from '../views/pages'

/** To another page of the run, as a card's "more"; nothing where there is no such page, nor in a saved report. */
export function PageLink({ run, page, more = {} }: { run: string; page: (typeof PAGES)[number]['name']; more?: Record<string, string> }) {
  const texts = useTexts()
  const address = usePageAddress()
  const saved = useSaved()
  if (saved || !PAGES.some(({ name }) => name === page)) return null
  return <Anchor component={Link} size="sm" href={address(run, page, more)}>{`${texts[page].title} ›`}</Anchor>
}
