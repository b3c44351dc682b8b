export const pipeline = {
  title: 'Data pipeline',
  question: 'Does training wait for data, and where is it held up?',
}
