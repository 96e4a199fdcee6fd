/** What LMDB does not see to: that no commit is undone by another process that opens the environment at that moment. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Kv } from '../../src/kv/kv.ts'
import { openLmdb } from '../../src/kv/lmdb.ts'
import { describeInstalled } from '../support/installed.ts'
import { entryOf, put } from './text-entries.ts'

const childScript = fileURLToPath(new URL('../../dist/test/kv/lmdb-child.js', import.meta.url))

/** Names the commit before the newest in LMDB's lock file. A process of its own, because one that closes the file gives up its locks. */
const stepBack = `
  const fs = require('node:fs')
  const file = fs.openSync(process.argv[1], 'r+')
  const id = Buffer.alloc(8)
  fs.readSync(file, id, 0, 8, 8)
  id.writeBigUInt64LE(id.readBigUInt64LE() - 1n)
  fs.writeSync(file, id, 0, 8, 8)
`

let path: string
let kv: Kv
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'holdfast-newest-'))
  kv = await openLmdb({ path, onFatal: neverFails, onDamage: (message) => expect.fail(message) })
})
afterEach(async () => {
  await kv.close()
  await rm(path, { recursive: true })
})

function neverFails(error: Error): void {
  throw error
}

/** Another process, started through another program, which opens the environment. */
function opener(...through: string[]): { pid: number | undefined; opened: Promise<void> } {
  const [command = '', ...words] = [...through, process.execPath, childScript, path]
  const child = spawn(command, words, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const open = async (): Promise<void> => {
    await once(child, 'message')
    child.disconnect()
    await once(child, 'exit')
  }
  return { pid: child.pid, opened: open() }
}

it('a commit waits while LMDB would begin it at an older commit than the newest, and undoes nothing', async () => {
  await kv.commit({ puts: [put('a', 'old')] })
  await kv.commit({ puts: [put('a', 'acknowledged')] })
  await promisify(execFile)(process.execPath, ['-e', stepBack, join(path, 'lock.mdb')])
  const late = kv.commit({ puts: [put('b', 'late')] })
  await opener().opened
  expect(await late).toBe(true)
  expect((await entryOf(kv, 'a')).value.toString()).toBe('acknowledged')
  expect((await entryOf(kv, 'b')).value.toString()).toBe('late')
})

describeInstalled('strace', [['strace', '-V']], () => {
  it('a process that opens the environment while others commit undoes nothing, and lets them go on', async () => {
    await kv.commit({ puts: [put('a', 'old')] })
    // LMDB maps the file after it has read which commit is the newest, and before it writes that to the lock file.
    const slowly = ['-P', join(path, 'data.mdb'), '-e', 'trace=mmap', '-e', 'inject=mmap:delay_exit=300000']
    const { pid, opened } = opener('strace', '-D', '-o', '/dev/null', ...slowly)
    await expect.poll(() => readFile(`/proc/${pid}/maps`, 'utf8'), { interval: 5 }).toContain('data.mdb')
    await kv.commit({ puts: [put('a', 'acknowledged')] })
    await opened
    expect((await entryOf(kv, 'a')).value.toString()).toBe('acknowledged')
    expect(await kv.commit({ puts: [put('b', 'late')] })).toBe(true)
    expect((await entryOf(kv, 'a')).value.toString()).toBe('acknowledged')
    expect(await kv.integrity.check()).not.toHaveProperty('damage')
  })
})
