/** The address of the timeline as Chrome JSON: the whole, or the chosen steps. */
export function timelineAddress(run: string, { rank, steps, name }: { rank: number | null; steps: string | null; name: string }): string {
  const query = new URLSearchParams({ ...(rank === null ? {} : { rank: String(rank) }), ...(steps === null ? {} : { steps }), name: name.slice(0, 100) })
  return `/api/runs/${encodeURIComponent(run)}/timeline/download?${query}`
}
