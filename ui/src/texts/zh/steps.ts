import type { steps as english } from '../en/steps'

export const steps: typeof english = {
  title: '迭代轨迹',
  question: '哪些迭代慢，慢在哪一段？',
}
