import type { files as english } from '../en/files'

export const files: typeof english = {
  title: '文件',
  question: '读取了什么，丢弃了什么，为什么？',
}
