import { sparkPath } from '../lib/spark'

/** A small line of values over their order; `label` says in words what it shows. */
export function Sparkline({ values, label, width = 72, height = 22 }: { values: readonly number[]; label: string; width?: number; height?: number }) {
  if (values.length < 2) return null
  const { line, last } = sparkPath(values, width, height)
  return (
    <svg width={width} height={height} role="img" aria-label={label} style={{ flex: 'none' }}>
      <title>{label}</title>
      <path d={`M3 ${height - 2.5}H${width - 3}`} stroke="var(--line)" />
      <path d={line} fill="none" stroke="var(--kind-compute)" strokeWidth={1.4} strokeLinejoin="round" />
      <circle cx={last.x} cy={last.y} r={2} fill="var(--kind-compute)" />
    </svg>
  )
}
