export const operators = {
  title: 'Operators',
  question: 'Which operators take the time?',
}
