import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Kv } from '../../src/kv/kv.ts'
import { openLmdb } from '../../src/kv/lmdb.ts'
import { limits } from '../../src/limits.ts'
import type { Report, Request } from './lmdb-child.ts'
import { describeKv } from './suite.ts'
import { bytes, entryOf, increment, keysOf, put } from './text-entries.ts'

// Child processes run what `npm run build` compiled, because Node 20 runs no TypeScript. `npm test` builds first.
const childScript = fileURLToPath(new URL('../../dist/test/kv/lmdb-child.js', import.meta.url))

const newDirectory = (): Promise<string> => mkdtemp(join(tmpdir(), 'holdfast-lmdb-'))

function neverFails(error: Error): void {
  throw error
}

describeKv('openLmdb', async () => {
  const path = await newDirectory()
  let kv = await openLmdb({ path, onFatal: neverFails })
  return {
    kv,
    async reopen() {
      await kv.close()
      kv = await openLmdb({ path, onFatal: neverFails })
      return kv
    },
    async close() {
      await kv.close()
      // Whatever a case did, nothing in the file may look like damage.
      const again = await openLmdb({ path, onFatal: neverFails })
      const report = await again.integrity.check()
      await again.close()
      await rm(path, { recursive: true })
      expect(report).toMatchObject({ damagedRecords: 0 })
      expect(report.damage).toBeUndefined()
    },
  }
})

describe('an environment', () => {
  it('is made with its directories, for its owner alone', async () => {
    const parent = await newDirectory()
    const path = join(parent, 'data', 'meta.d')
    const kv = await openLmdb({ path, onFatal: neverFails })
    await kv.commit({ puts: [put('a', '1')] })
    await kv.close()
    expect((await readdir(path)).sort()).toEqual(['commits.marks', 'data.mdb', 'lock.mdb'])
    for (const name of [
      join(parent, 'data'),
      path,
      ...['commits.marks', 'data.mdb', 'lock.mdb'].map((name) => join(path, name)),
    ]) {
      expect([name, (await stat(name)).mode & 0o077]).toEqual([name, 0])
    }
    await rm(parent, { recursive: true })
  })
})

describe('processes that share an environment', () => {
  let path: string
  let kv: Kv
  let children: Child[]
  beforeEach(async () => {
    expect(existsSync(childScript), `${childScript} is missing: run npm run build first`).toBe(true)
    path = await newDirectory()
    kv = await openLmdb({ path, onFatal: neverFails })
    children = []
  })
  afterEach(async () => {
    await Promise.all(children.map((child) => child.kill()))
    await kv.close()
    await rm(path, { recursive: true })
  })

  async function startChild(shellLimits?: string, at = path): Promise<Child> {
    const child = new Child(at, shellLimits)
    children.push(child)
    await child.until('ready')
    return child
  }

  it('may all be the first to open it', async () => {
    const fresh = join(path, 'fresh')
    const keys = ['a', 'b', 'c', 'd']
    await Promise.all(
      keys.map(async (key) => {
        const child = await startChild(undefined, fresh)
        await child.ask({ do: 'commit', key, value: key })
      }),
    )
    const again = await openLmdb({ path: fresh, onFatal: neverFails })
    expect(await keysOf(again)).toEqual(keys)
    await again.close()
  })

  it('lose no increment to each other', async () => {
    await kv.commit({ puts: [put('count', '0')] })
    const two = await Promise.all([startChild(), startChild()])
    const asked = two.map((child) => child.ask({ do: 'increment', key: 'count', times: 100 }))
    await Promise.all([...asked, increment(kv, bytes('count'), 100)])
    expect((await entryOf(kv, 'count')).value.toString()).toBe('300')
  })

  it('see what another one has committed as soon as it says so', async () => {
    const child = await startChild()
    let watching = true
    const watch = async (): Promise<void> => {
      // Keeps reading, so that a snapshot from just before the commit is there to be wrongly used again.
      while (watching) {
        await kv.get([bytes('k')])
        await nextTurn()
      }
    }
    const watched = watch()
    try {
      for (let i = 0; i < 200; i++) {
        await child.ask({ do: 'commit', key: 'k', value: `${i}` })
        const [[entry], [ranged]] = await Promise.all([
          kv.get([bytes('k')]),
          kv.range({ start: bytes('k'), end: bytes('l'), limit: 1 }),
        ])
        expect([entry?.value.toString(), ranged?.value.toString()]).toEqual([`${i}`, `${i}`])
      }
    } finally {
      watching = false
      await watched
    }
  })

  it('read several ranges from one snapshot, whatever another one commits meanwhile', async () => {
    await kv.commit({ puts: [put('a', 'old'), put('b', 'old')] })
    const child = await startChild()
    const mark = join(path, 'committed')
    const queries = ['a', 'b'].map((key) => ({ start: bytes(key), end: bytes(`${key}0`), limit: 1 }))
    const { found } = await kv.view([], queries, ({ value }, place) => {
      if (place === 0) {
        child.tell({ do: 'commit', key: 'b', value: 'new', mark })
        waitForFile(mark)
      }
      return value.toString()
    })
    expect(found).toEqual([['old'], ['old']])
    expect((await kv.view([], queries, ({ value }) => value.toString())).found).toEqual([['old'], ['new']])
  })

  it('find all that one acknowledged before it was killed, and can go on', async () => {
    for (let round = 0; round < 3; round++) {
      const child = await startChild()
      child.tell({ do: 'commit on', writers: 16 })
      await child.until('acknowledged', 200 + 100 * round)
      await child.kill()
      await expectWholeCommits(child)
      expect(await kv.commit({ puts: [put('after', `${round}`)] })).toBe(true)
    }
  })

  it('use again what one held that was killed while it read', async () => {
    const value = Buffer.alloc(64 * 1024, 'x')
    const commitOften = async (): Promise<number> => {
      for (let i = 0; i < 100; i++) await kv.commit({ puts: [{ key: bytes('k'), value }] })
      return (await stat(join(path, 'data.mdb'))).size
    }
    const before = await commitOften()
    const child = await startChild()
    await child.ask({ do: 'hold a snapshot' })
    await child.kill()
    expect(await commitOften()).toBeLessThan(before + 50 * value.length)
  })

  it.each([
    ['is killed, where it would hang', false, [null, 'SIGKILL']],
    ['ends after it with its code, where that can be', true, [3, null]],
  ] as const)('one that ends in the middle of a commit %s, and others go on', async (_, safely, ended) => {
    const child = await startChild()
    child.tell({ do: 'exit within a commit', code: 3, safely })
    expect(await child.ended).toEqual(ended)
    expect(await kv.commit({ puts: [put('after')] })).toBe(true)
  })

  it('stop at the first commit that cannot be written, and lose nothing acknowledged', async () => {
    // The file may not grow beyond some hundred KiB: writes fail, or are cut short, as on a full or broken disk.
    const child = await startChild('ulimit -f 1000')
    const writers = 8
    await child.ask({ do: 'commit on', writers })
    const fatal = child.reports.filter((report) => report.said === 'fatal')
    expect(fatal).toMatchObject([{ times: 1, reason: expect.stringMatching(/File too large|Input\/output error/) }])
    // All writers, and then one more commit and a get.
    const rejected = child.reports.filter((report) => report.said === 'rejected')
    expect(rejected).toHaveLength(writers + 2)
    expect(rejected).toEqual(rejected.map(() => ({ said: 'rejected', reason: fatal[0]?.reason })))
    await child.kill()
    expect(child.acknowledged.length).toBeGreaterThan(writers)
    await expectWholeCommits(child)
  })

  it('reject what waits behind a commit that fails', async () => {
    const child = await startChild('ulimit -f 1000')
    // More than one transaction takes, so that some wait.
    const times = Math.ceil(limits.kvBatchBytesMax / limits.kvValueBytesMax) + 2
    await child.ask({ do: 'commit large values', times })
    expect(child.reports.filter((report) => report.said === 'rejected')).toHaveLength(times)
    expect(child.reports.filter((report) => report.said === 'fatal')).toHaveLength(1)
  })

  /** All that `child` acknowledged is there, and no commit of it, acknowledged or not, is there by half. */
  async function expectWholeCommits(child: Child): Promise<void> {
    const there = new Set(await keysOf(kv))
    expect(child.acknowledged.filter((key) => !there.has(key))).toEqual([])
    const halves = [...there].filter((key) => key.includes('/') && !there.has(twinOf(key)))
    expect(halves).toEqual([])
  }
})

/** Blocks this process: what it reads must not get on. */
function waitForFile(file: string): void {
  const cell = new Int32Array(new SharedArrayBuffer(4))
  for (let tries = 0; !existsSync(file); tries++) {
    if (tries === 3000) throw new Error('the other process did not commit')
    Atomics.wait(cell, 0, 0, 10)
  }
}

/** Each commit of a child puts two keys. */
function twinOf(key: string): string {
  return key.endsWith('/twin') ? key.slice(0, -'/twin'.length) : `${key}/twin`
}

class Child {
  readonly reports: Report[] = []
  readonly #process: ChildProcess
  /** With code and signal. */
  readonly ended: Promise<[number | null, NodeJS.Signals | null]>
  #onReport = (): void => {}
  #failure: Error | undefined

  constructor(path: string, shellLimits = ':') {
    const command = `${shellLimits} && exec "$0" "$@"`
    this.#process = spawn('sh', ['-c', command, process.execPath, childScript, path], {
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    })
    let noise = ''
    this.#process.stderr?.on('data', (text) => {
      noise += text
    })
    this.#process.on('message', (report: Report) => {
      this.reports.push(report)
      this.#onReport()
    })
    this.ended = new Promise((resolve) => {
      this.#process.on('exit', (code, signal) => {
        this.#failure = new Error(`the child ended with ${code ?? signal}: ${noise}`)
        this.#onReport()
        resolve([code, signal])
      })
    })
  }

  get acknowledged(): string[] {
    return this.reports.flatMap((report) => (report.said === 'acknowledged' ? [report.key] : []))
  }

  tell(request: Request): void {
    this.#process.send(request)
  }

  /** Resolves when the request is done. One at a time. */
  async ask(request: Request): Promise<void> {
    const before = this.reports.filter((report) => report.said === 'done').length
    this.tell(request)
    await this.until('done', before + 1)
  }

  async until(said: Report['said'], times = 1): Promise<void> {
    while (this.reports.filter((report) => report.said === said).length < times) {
      if (this.#failure !== undefined) throw this.#failure
      await new Promise<void>((resolve) => {
        this.#onReport = resolve
      })
    }
  }

  async kill(): Promise<void> {
    this.#process.kill('SIGKILL')
    await this.ended
  }
}

describe('reads of one turn', () => {
  let path: string
  let kv: Kv
  beforeEach(async () => {
    path = await newDirectory()
    kv = await openLmdb({ path, onFatal: neverFails })
  })
  afterEach(async () => {
    await kv.close()
    await rm(path, { recursive: true })
  })

  it('fail alone', async () => {
    await kv.commit({ puts: [put('a', '1')] })
    const [tooLong, found, range] = await Promise.allSettled([
      kv.get([Buffer.alloc(limits.kvKeyBytesMax + 1)]),
      kv.get([bytes('a')]),
      kv.range({ start: bytes('a'), end: bytes('b'), limit: 1 }),
    ])
    expect(tooLong.status).toBe('rejected')
    expect(found).toMatchObject({ value: [{ key: bytes('a'), value: bytes('1') }] })
    expect(range).toMatchObject({ value: [{ key: bytes('a'), value: bytes('1') }] })
  })

  it('reject when the store is closed before their turn comes', async () => {
    const asked = [kv.get([bytes('a')]), kv.get([bytes('b')])]
    const outcomes = Promise.allSettled(asked)
    await kv.close()
    for (const outcome of await outcomes) expect(outcome.status).toBe('rejected')
  })
})
