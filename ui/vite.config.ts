import react from '@vitejs/plugin-react'
import { defineConfig } from 'vitest/config'

// The server answers every page with index.html and replaces the nonce in it; files lie at /static.
export default defineConfig({
  base: '/static/',
  plugins: [react()],
  html: { cspNonce: 'LAPTIME_NONCE' },
  build: {
    outDir: '../src/laptime/web/static',
    emptyOutDir: true,
    license: true,
    manifest: 'pages.json', // the server names in each page what it will load
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
  },
  server: { proxy: { '/api': 'http://127.0.0.1:8080' } },
  test: { environment: 'node', setupFiles: ['./src/testing/setup.ts'], css: false },
})
