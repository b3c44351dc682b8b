/** Search that forgives: letters of the query in order, words in any order; whole words first. */

/** How well a text answers, null where it does not; more is better. */
export function matchScore(text: string, query: string): number | null {
  const folded = text.toLowerCase()
  let score = 0
  for (const word of query.toLowerCase().split(/\s+/).filter(Boolean)) {
    const found = wordScore(folded, word)
    if (found === null) return null
    score += found
  }
  return score
}

function wordScore(text: string, word: string): number | null {
  const at = text.indexOf(word)
  if (at >= 0) return 1000 - Math.min(at, 500) + (startsWord(text, at) ? 200 : 0)
  return word.length < 3 ? null : scattered(text, word)
}

function startsWord(text: string, at: number): boolean {
  return at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1]!)
}

/** Letters in order, but with gaps: the fewer and shorter, the better. */
function scattered(text: string, word: string): number | null {
  let from = -1
  let gaps = 0
  for (const letter of word) {
    const at = text.indexOf(letter, from + 1)
    if (at < 0) return null
    if (from >= 0) gaps += at - from - 1
    from = at
  }
  return gaps > word.length * 4 ? null : 200 - gaps
}

/** Rows that answer a query, best first; all of them, in their order, where it is empty. */
export function fuzzySearch<Row>(rows: readonly Row[], query: string, text: (row: Row) => string): readonly Row[] {
  if (query.trim() === '') return rows
  return rows
    .map((row) => ({ row, score: matchScore(text(row), query) }))
    .filter((match): match is { row: Row; score: number } => match.score !== null)
    .toSorted((a, b) => b.score - a.score)
    .map((match) => match.row)
}
