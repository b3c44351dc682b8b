import { expect, it } from 'vitest'
import { CATALOGUES } from '../texts/catalogues'
import { problemLine, problemText } from './problems'

const { problems } = CATALOGUES.zh

it('errors of the server are said in the language of the page', () => {
  expect(problemText('no step 7', problems)).toBe('没有迭代 7')
  expect(problemText("'3-x' is not like 3, 3-7, 3-, -7 or 3,5", problems)).toContain("'3-x' 不是")
  expect(problemText('no slice named conv', problems)).toBe('没有名为 conv 的切片')
  expect(problemText('something new', problems)).toBe('something new')
})

it('what is filled in is said so too', () => {
  const line = 'check the ada daemon (laptime doctor), then train again with the profiler on, or name another folder'
  expect(problemText(line, problems)).toBe('检查 ada 守护进程（laptime doctor），然后打开分析器重新训练，或指定其他文件夹')
})

it('a failed import told in one line', () => {
  expect(problemLine('no sound JSON: /runs/a: b.json: write the profile again', problems)).toBe('不是正确的 JSON: /runs/a: b.json: 重新写出性能数据')
  expect(problemLine('the import was killed (SIGKILL): it may have needed more memory than there is; try again', problems)).toContain('SIGKILL）：')
  expect(problemLine('Permission denied: /runs/a.json: check the file and its permissions', problems)).toBe('Permission denied: /runs/a.json: 检查该文件及其权限')
  expect(problemLine('something new: a: b', problems)).toBe('something new: a: b')
})

it('English is word for word what the server says', () => {
  expect(problemLine('no sound JSON: a.json: write the profile again', CATALOGUES.en.problems)).toBe('no sound JSON: a.json: write the profile again')
})
