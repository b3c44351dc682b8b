import type { MemoryCurve } from '../../api/shapes'
import type { Texts } from '../../texts/catalogues'
import type { NamedCounter } from './curveOption'

/** Totals of the allocator for the device of the curve: they are drawn beside the blocks. */
export function totalsOf(curve: MemoryCurve, texts: Texts['memory']): NamedCounter[] {
  if (curve.bytes.length === 0) return []
  return sampled(curve).filter(isTotal(curve)).map((counter) => ({ name: nameOf(counter.name, texts), counter }))
}

/** All other counters of memory. */
export function otherCounters(curve: MemoryCurve) {
  return curve.bytes.length === 0 ? sampled(curve) : sampled(curve).filter((counter) => !isTotal(curve)(counter))
}

/** Of the steps that the header chooses, a counter may have no sample. */
function sampled({ counters }: MemoryCurve) {
  return counters.filter(({ samples }) => samples > 0)
}

function isTotal(curve: MemoryCurve) {
  return ({ unit, device, name }: MemoryCurve['counters'][number]) => unit === 'bytes' && device !== null && device === curve.device && /^(allocated|reserved) bytes of /.test(name)
}

function nameOf(name: string, texts: Texts['memory']): string {
  return name.startsWith('reserved') ? texts.reserved : texts.allocated
}
