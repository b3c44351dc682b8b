/** An answer that is none: what, where, and what to do about it. */
export class Problem extends Error {
  constructor(
    /** The status of the answer; 0 where the server could not be reached. */
    readonly status: number,
    readonly what: string,
    readonly where: string | null = null,
    readonly remedy: string | null = null,
  ) {
    super(what)
  }

  get unreachable(): boolean {
    return this.status === 0
  }

  /** The run is there, but was not imported yet. */
  get notImported(): boolean {
    return this.status === 409
  }

  get missing(): boolean {
    return this.status === 404
  }
}

export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  return new Problem(0, error instanceof Error ? error.message : String(error))
}

/** The problem that an answer tells. */
export async function problemOf(response: Response): Promise<Problem> {
  const body: unknown = await response.json().catch(() => null)
  const told = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  return new Problem(response.status, text(told.error) ?? response.statusText, text(told.where), text(told.remedy))
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
