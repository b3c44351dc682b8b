/** Paper is white: a dark page is printed in light colours, its charts turned over by `print.css`. */
export function keepPaperLight(): void {
  const page = document.documentElement
  const attribute = 'data-mantine-color-scheme'
  let before: string | null = null
  addEventListener('beforeprint', () => {
    before = page.getAttribute(attribute)
    page.toggleAttribute('data-from-dark', before === 'dark')
    page.setAttribute(attribute, 'light')
  })
  addEventListener('afterprint', () => {
    if (before !== null) page.setAttribute(attribute, before)
    page.removeAttribute('data-from-dark')
  })
}
