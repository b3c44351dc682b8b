export const files = {
  title: 'Files',
  question: 'What was read, what was dropped, and why?',
}
