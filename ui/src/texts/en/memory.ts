export const memory = {
  title: 'Memory',
  question: 'What fills the memory, and when?',
}
