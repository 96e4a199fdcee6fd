// `npm run executable [-- FILE]`: makes one file that runs without an installed Node, for this platform, from the compiled code and the running Node.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { inject } from 'postject'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const executable = resolve(process.argv[2] ?? join(root, 'dist', 'holdfast'))
const work = mkdtempSync(join(tmpdir(), 'holdfast-executable-'))

/** Folders of the packages that run, and of what they need. */
function packageFolders() {
  const listed = execFileSync('npm', ['ls', '--omit=dev', '--all', '--parseable'], { cwd: root, encoding: 'utf8' })
  return listed.split('\n').filter((path) => path.startsWith(join(root, 'node_modules')))
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true })
    .map((path) => join(folder, path))
    .filter((path) => statSync(path).isFile())
}

const isNeeded = (path) =>
  !/\.(?:map|d\.[cm]?ts|md|markdown|c|cc|cpp|h|tsbuildinfo)$|\/(?:test|tests|docs)\//.test(path)

/** A table of names and lengths, then the bytes of all files. */
function bundle() {
  const paths = [...new Set(['dist/joined', ...packageFolders()].flatMap((folder) => filesIn(resolve(root, folder))))]
  const files = [
    ...paths.filter(isNeeded).map((path) => ({ path: relative(root, path), content: readFileSync(path) })),
    { path: 'package.json', content: readFileSync(join(root, 'package.json')) },
    { path: 'main.cjs', content: Buffer.from("import('./dist/joined/main.js')\n") },
    { path: 'worker.cjs', content: Buffer.from("import('./dist/joined/worker.js')\n") },
  ].sort((a, b) => (a.path < b.path ? -1 : 1))
  const index = Buffer.from(JSON.stringify(files.map(({ path, content }) => ({ path, bytes: content.length }))))
  const indexBytes = Buffer.alloc(4)
  indexBytes.writeUInt32BE(index.length)
  return Buffer.concat([indexBytes, index, ...files.map(({ content }) => content)])
}

try {
  const files = bundle()
  const assets = { program: join(work, 'program'), digest: join(work, 'digest') }
  writeFileSync(assets.program, gzipSync(files, { level: 9 }))
  writeFileSync(assets.digest, createHash('sha256').update(files).digest('hex').slice(0, 32))
  const output = join(work, 'blob')
  const main = join(root, 'packaging', 'executable', 'start.cjs')
  const settings = {
    main,
    output,
    assets,
    disableExperimentalSEAWarning: true,
    useCodeCache: false,
    useSnapshot: false,
  }
  writeFileSync(join(work, 'sea.json'), JSON.stringify(settings))
  execFileSync(process.execPath, ['--experimental-sea-config', join(work, 'sea.json')], { stdio: 'ignore' })
  mkdirSync(dirname(executable), { recursive: true })
  rmSync(executable, { force: true })
  copyFileSync(process.execPath, executable)
  chmodSync(executable, 0o755)
  await inject(executable, 'NODE_SEA_BLOB', readFileSync(output), {
    sentinelFuse: 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2',
  })
  console.log(`${executable}: ${Math.round(statSync(executable).size / 1024 / 1024)} MiB, on Node ${process.version}`)
} finally {
  rmSync(work, { recursive: true, force: true })
}
