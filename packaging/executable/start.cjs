/** The entry of the one-file executable: unpacks the program that it carries, once, and runs it. Native modules and threads need files. */
const { mkdirSync, mkdtempSync, existsSync, renameSync, rmSync, statSync, writeFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { homedir } = require('node:os')
const { dirname, join } = require('node:path')
const { getAsset } = require('node:sea')
const { gunzipSync } = require('node:zlib')

/** systemd names CACHE_DIRECTORY, desktops XDG_CACHE_HOME. Never a directory of everybody's: the program would run what others put there. */
const caches = process.env.CACHE_DIRECTORY || process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
const digest = getAsset('digest', 'utf8')
const program = join(caches, 'holdfast', digest)

if (!existsSync(program)) unpack()
if (process.getuid !== undefined && statSync(program).uid !== process.getuid()) {
  throw new Error(`${program} belongs to somebody else: name a directory of your own by XDG_CACHE_HOME`)
}

/** Several processes may do so at once: each unpacks for itself, and the first one's counts. */
function unpack() {
  mkdirSync(dirname(program), { recursive: true, mode: 0o700 })
  const unfinished = mkdtempSync(`${program}-`)
  const files = gunzipSync(getAsset('program'))
  const indexBytes = files.readUInt32BE(0)
  let offset = 4 + indexBytes
  for (const { path, bytes } of JSON.parse(files.toString('utf8', 4, offset))) {
    const target = join(unfinished, path)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, files.subarray(offset, offset + bytes))
    offset += bytes
  }
  try {
    renameSync(unfinished, program)
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    if (!existsSync(program)) throw error
  }
}

// Workers are started as `EXECUTABLE FILE`, as if this were Node.
const worker = join(program, 'dist/joined/worker.js')
const entry = process.argv[2] === worker && process.send !== undefined ? './worker.cjs' : './main.cjs'
createRequire(join(program, 'start.cjs'))(entry)
