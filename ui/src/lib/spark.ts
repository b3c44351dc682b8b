/** The path of a small line: from 0, so that its height tells relative change honestly; `last` is where it ends. */
export function sparkPath(values: readonly number[], width: number, height: number): { line: string; last: { x: number; y: number } } {
  const most = Math.max(...values, 1)
  const inset = 3
  const points = values.map((value, at) => ({
    x: round(inset + (at / Math.max(1, values.length - 1)) * (width - 2 * inset)),
    y: round(height - inset - (value / most) * (height - 2 * inset)),
  }))
  return { line: points.map(({ x, y }, at) => `${at === 0 ? 'M' : 'L'}${x} ${y}`).join(''), last: points.at(-1) ?? { x: 0, y: 0 } }
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
