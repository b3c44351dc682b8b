import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

// The page of `laptime report --html`: one script and one style sheet, written into each report. Built after the pages, whose
// build empties their folder.
export default defineConfig({
  plugins: [react()],
  publicDir: false,
  build: {
    outDir: '../src/laptime/web/static/report',
    emptyOutDir: true,
    cssCodeSplit: false,
    modulePreload: false,
    chunkSizeWarningLimit: 2000,
    rolldownOptions: {
      input: 'src/report/main.tsx',
      transform: { define: { 'import.meta': '{}' } }, // there is none in a script that is no module
      output: { format: 'iife', codeSplitting: false, entryFileNames: 'report.js', assetFileNames: 'report[extname]' },
    },
  },
})
