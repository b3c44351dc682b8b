import type { operators as english } from '../en/operators'

export const operators: typeof english = {
  title: '算子',
  question: '哪些算子耗时最多？',
}
