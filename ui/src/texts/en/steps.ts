export const steps = {
  title: 'Steps',
  question: 'Which steps are slow, and in which part?',
}
