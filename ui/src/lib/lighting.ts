/** Cards say what they are evidence of (`data-evidence="data_loading launch_bound"`); a finding lights up its own. */
export function lightUp(cause: string | null): void {
  for (const element of document.querySelectorAll<HTMLElement>('[data-evidence]')) {
    element.classList.toggle('evidence-lit', cause !== null && (element.dataset.evidence ?? '').split(' ').includes(cause))
  }
}
