import type { memory as english } from '../en/memory'

export const memory: typeof english = {
  title: '内存',
  question: '内存何时被什么占用？',
}
