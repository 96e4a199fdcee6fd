// `node rootfs.mjs APP ROOT`: fills ROOT with what the image holds: Node, the app, the shared libraries that they load, and one user. No shell.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

const [app, root] = process.argv.slice(2)
if (app === undefined || root === undefined) throw new Error('usage: node rootfs.mjs APP ROOT')

/** A number that no user of a host is likely to have, as of other images without a root user. */
const uid = 65532
const node = '/usr/bin/node'

/** Paths of the shared libraries that a binary loads. Empty for one that is static, or that is for another C library. */
function librariesOf(binary) {
  try {
    const said = execFileSync('ldd', [binary], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    return [...said.matchAll(/(?:^|\s)(\/\S+)\s\(0x/g)].map(([, path]) => path)
  } catch {
    return []
  }
}

function place(path, content, mode) {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), content, { mode })
}

/** `path` is where programs look for the file; it may be a link. */
function copy(from, path) {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  cpSync(realpathSync(from), join(root, path))
}

const nativeModules = readdirSync(app, { recursive: true }).filter((path) => path.endsWith('.node'))
const binaries = [process.execPath, ...nativeModules.map((path) => join(app, path))]

copy(process.execPath, node)
for (const library of new Set(binaries.flatMap(librariesOf))) copy(library, library)
cpSync(app, join(root, 'app'), { recursive: true })

// There is no `env` that could find Node.
const main = '/app/dist/joined/main.js'
place(main, readFileSync(join(root, main), 'utf8').replace(/^#!.*/, `#!${node}`), 0o755)
chmodSync(join(root, main), 0o755)
symlinkSync(main, join(root, 'usr/bin/holdfast'))

place('etc/passwd', `root:x:0:0::/:/nonexistent\nholdfast:x:${uid}:${uid}::/data:/nonexistent\n`, 0o644)
place('etc/group', `root:x:0:\nholdfast:x:${uid}:\n`, 0o644)
place('etc/nsswitch.conf', 'hosts: files dns\n', 0o644)
mkdirSync(join(root, 'data'), { mode: 0o700 })
chownSync(join(root, 'data'), uid, uid)
mkdirSync(join(root, 'tmp'))
chmodSync(join(root, 'tmp'), 0o1777)
