/** Longest a drawing waits for a page that never rests. */
const LONGEST_MS = 1000

/** Does it once what is on the way to the screen has been shown; the answer takes it back. */
export function whenIdle(task: () => void): () => void {
  if (typeof requestIdleCallback === 'undefined') { // Safari
    const timer = setTimeout(task, 50)
    return () => clearTimeout(timer)
  }
  const asked = requestIdleCallback(task, { timeout: LONGEST_MS })
  return () => cancelIdleCallback(asked)
}
