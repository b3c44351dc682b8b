/** What the server says of errors, in the language of the page: its English texts, with {} for what is filled in. */

/** Texts of the page's language by those of the server; empty for English. What is in none stays as it is. */
export type ProblemTexts = Readonly<Record<string, string>>

interface Pattern {
  readonly whole: RegExp
  readonly atStart: RegExp
  readonly atEnd: RegExp
  readonly text: string
}

const LONGEST = 4000
const HOLE = '{}'
const compiled = new WeakMap<ProblemTexts, readonly Pattern[]>()

/** A text of an error, or what to do about it. */
export function problemText(text: string, texts: ProblemTexts): string {
  if (text.length > LONGEST) return text
  for (const pattern of patternsOf(texts)) {
    const found = pattern.whole.exec(text)
    if (found) return filled(pattern, found, texts)
  }
  return text
}

/** An error told in one line, `what: where: remedy`. */
export function problemLine(line: string, texts: ProblemTexts): string {
  if (line.length > LONGEST) return line
  const whole = problemText(line, texts)
  if (whole !== line) return whole
  const patterns = patternsOf(texts)
  const what = firstOf(patterns, 'atStart', line)
  const remedy = firstOf(patterns, 'atEnd', line.slice(what?.found[0].length ?? 0))
  const where = line.slice(what?.found[0].length ?? 0, remedy ? -remedy.found[0].length : undefined)
  return [what && `${filled(what.pattern, what.found, texts)}: `, where, remedy && `: ${filled(remedy.pattern, remedy.found, texts)}`]
    .filter(Boolean)
    .join('')
}

function firstOf(patterns: readonly Pattern[], place: 'atStart' | 'atEnd', line: string) {
  for (const pattern of patterns) {
    const found = pattern[place].exec(line)
    if (found) return { pattern, found }
  }
  return undefined
}

function filled({ text }: Pattern, found: RegExpExecArray, texts: ProblemTexts): string {
  const values = found.slice(1).map((value) => problemText(value, texts))
  return text.split(HOLE).reduce((start, end, place) => `${start}${values[place - 1] ?? ''}${end}`)
}

/** Those that say most first: `no {} named {}` fits what `no slice named {}` says better. */
function patternsOf(texts: ProblemTexts): readonly Pattern[] {
  const known = compiled.get(texts)
  if (known) return known
  const length = (template: string) => template.replaceAll(HOLE, '').length
  const patterns = Object.entries(texts)
    .toSorted(([one], [other]) => length(other) - length(one))
    .map(([template, text]) => {
      const source = template.split(HOLE).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('(.*?)')
      return { whole: new RegExp(`^${source}$`, 's'), atStart: new RegExp(`^${source}: `, 's'), atEnd: new RegExp(`: ${source}$`, 's'), text }
    })
  compiled.set(texts, patterns)
  return patterns
}
