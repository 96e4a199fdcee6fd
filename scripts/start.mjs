// `npm start -- <flags>`: compiles when the compiled code is missing or older than the sources, then serves in this process.
import { spawnSync } from 'node:child_process'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const main = join(root, 'dist', 'src', 'cli', 'main.js')
const buildInfo = join(root, 'dist', '.tsbuildinfo')
// tsc leaves its own file alone when a source was only touched.
const stamp = join(root, 'dist', '.started')

function changedMs(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

function newestMs(directory) {
  const entries = readdirSync(directory, { withFileTypes: true, recursive: true })
  return Math.max(...entries.map((entry) => changedMs(join(entry.parentPath ?? entry.path, entry.name))))
}

function isBuilt() {
  const builtMs = changedMs(main) && Math.max(changedMs(buildInfo), changedMs(stamp))
  const sources = [join(root, 'tsconfig.json'), join(root, 'package.json')].map(changedMs)
  return builtMs > 0 && builtMs >= Math.max(newestMs(join(root, 'src')), ...sources)
}

if (!isBuilt()) {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const { status } = spawnSync(process.execPath, [compiler, '-p', root], {
    stdio: ['ignore', process.stderr.fd, 'inherit'],
  })
  if (status !== 0) {
    console.error('holdfast: the build failed; run `npm ci` if packages are missing')
    process.exit(1)
  }
  writeFileSync(stamp, '')
}

await import(main)
