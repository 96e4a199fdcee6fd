// `npm start -- <flags>`: joins the sources and builds the console when what was built is missing or older, then serves in this process.
import { spawnSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const main = join(root, 'dist', 'joined', 'main.js')
const consolePage = join(root, 'dist', 'joined', 'console', 'index.html')

function changedMs(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

function newestMs(directory) {
  const entries = readdirSync(directory, { withFileTypes: true, recursive: true })
  return Math.max(...entries.map((entry) => changedMs(join(entry.parentPath ?? entry.path, entry.name))))
}

function isBuilt() {
  const builtMs = changedMs(main)
  const settings = ['rolldown.config.mjs', 'package.json'].map((name) => changedMs(join(root, name)))
  return builtMs > 0 && builtMs >= Math.max(newestMs(join(root, 'src')), ...settings)
}

function isConsoleBuilt() {
  const builtMs = changedMs(consolePage)
  return (
    builtMs > 0 && builtMs >= Math.max(newestMs(join(root, 'console', 'src')), changedMs(join(root, 'package.json')))
  )
}

if (!isBuilt()) {
  const rolldown = join(root, 'node_modules', 'rolldown', 'bin', 'cli.mjs')
  const { status } = spawnSync(process.execPath, [rolldown, '-c', '--log-level', 'warn'], {
    cwd: root,
    stdio: ['ignore', process.stderr.fd, 'inherit'],
  })
  if (status !== 0) {
    console.error('holdfast: the build failed; run `npm ci` if packages are missing')
    process.exit(1)
  }
}

if (!isConsoleBuilt()) {
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')
  const { status } = spawnSync(process.execPath, [vite, 'build', join(root, 'console'), '--logLevel', 'warn'], {
    stdio: ['ignore', process.stderr.fd, 'inherit'],
  })
  // Everything but the console works without it.
  if (status !== 0) console.error('holdfast: the console could not be built')
}

await import(main)
