export interface AgoTexts {
  readonly now: string
  readonly minutes: (count: number) => string
  readonly hours: (count: number) => string
  readonly days: (count: number) => string
}

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How long ago; the date itself where that says more. */
export function ago(unix: number, now: number, texts: AgoTexts, language: string): string {
  const past = Math.max(0, now - unix)
  if (past < MINUTE) return texts.now
  if (past < HOUR) return texts.minutes(Math.floor(past / MINUTE))
  if (past < DAY) return texts.hours(Math.floor(past / HOUR))
  if (past < 14 * DAY) return texts.days(Math.floor(past / DAY))
  return new Date(unix * 1000).toLocaleDateString(language, { dateStyle: 'medium' })
}

export function date(unix: number, language: string): string {
  return new Date(unix * 1000).toLocaleString(language, { dateStyle: 'medium', timeStyle: 'medium' })
}
