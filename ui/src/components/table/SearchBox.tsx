import { CloseButton, TextInput } from '@mantine/core'
import { useTexts } from '../../state/language'
import { SearchIcon } from '../icons'

/** `/` anywhere on the page goes here; see frame/keys.ts. */
export function SearchBox({ value, onChange, placeholder }: { value: string; onChange: (query: string) => void; placeholder: string }) {
  const { table } = useTexts()
  return (
    <TextInput
      data-search=""
      size="sm"
      w={320}
      maw="100%"
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      placeholder={placeholder}
      aria-label={table.search}
      leftSection={<SearchIcon size={16} />}
      rightSection={value === '' ? null : <CloseButton size="sm" aria-label={table.clear} onClick={() => onChange('')} />}
    />
  )
}
