/** Builds the console into `dist/joined/console`, from where the admin port serves it. No script or style stands in the page itself, as its security policy demands. */
import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  build: {
    outDir: '../dist/joined/console',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
  },
})
