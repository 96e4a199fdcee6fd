// Joins the sources into a few files, which Node loads in a fraction of the time that hundreds of modules take. The packages that they import stay apart.
import { readFileSync } from 'node:fs'

const { dependencies, peerDependencies } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'))
const packages = Object.keys({ ...dependencies, ...peerDependencies })

/** V8 keeps a text in two bytes a character when one of them lies beyond Latin-1, and each process keeps the text of its sources. */
const inOneByte = {
  name: 'in-one-byte',
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle))
      if (chunk.type === 'chunk') chunk.code = chunk.code.replace(/[^\0-\xff]/g, escaped)
  },
}
const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

export default {
  // Side by side, because the command starts the worker, and the engine the thread, by names beside their own.
  input: {
    main: 'src/cli/main.ts',
    worker: 'src/cli/serving/worker.ts',
    thread: 'src/threads/thread.ts',
    index: 'src/index.ts',
  },
  platform: 'node',
  external: (id) => id.startsWith('node:') || packages.some((name) => id === name || id.startsWith(`${name}/`)),
  // Nothing is dropped: a module may be imported for its effect alone, although the package says that none is for those who import it.
  treeshake: false,
  output: {
    dir: 'dist/joined',
    format: 'esm',
    sourcemap: true,
    cleanDir: true,
    chunkFileNames: '[name].js',
    plugins: [inOneByte],
  },
}
