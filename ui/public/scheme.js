// Before the first paint, so that a dark page never flashes white. The key is that of state/preferences.ts.
(function () {
  var scheme = null
  try { scheme = localStorage.getItem('laptime-theme') } catch (refused) { /* storage may be forbidden */ }
  if (scheme !== 'dark' && scheme !== 'light') {
    scheme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
  }
  document.documentElement.setAttribute('data-mantine-color-scheme', scheme)
})()
