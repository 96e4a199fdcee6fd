/**
 * The engine alone: `engine-process URL DIRECTORY GROUPKEYS ROUNDS SECONDS` fills an empty database with 1,000 groups of so many keys, and LMDB with 1,000 keys. Prints what lookups and
 * pages cost in each round, as JSON.
 */
import { join } from 'node:path'
import type { Kv, Put, RangeQuery } from '../../src/kv/kv.ts'
import { openLmdb } from '../../src/kv/lmdb.ts'
import { endOfPrefix, packKey, packTail } from '../../src/kv/ordered-key.ts'
import { openPostgres } from '../../src/kv/postgres.ts'
import type { EngineCosts } from '../results.ts'

const [url = '', directory = '', ...numbers] = process.argv.slice(2)
const [groupKeys = 0, rounds = 0, seconds = 0] = numbers.map(Number)
const groups = 1_000
const atOnce = 64
const pageEntries = 1_000
const keysACommit = 2_000
const slash = 0x2f

/** The keys and values look like those of objects. */
const head = ['c', 'bench'] as const
const value = Buffer.alloc(300, 'value')
const keyOf = (group: number, number: number): Buffer =>
  packTail(head, `${String(group).padStart(4, '0')}/${String(number).padStart(7, '0')}`)

async function fill(kv: Kv, keysOfGroup: number): Promise<void> {
  let puts: Put[] = []
  const commits: Promise<boolean>[] = []
  const commit = async (): Promise<void> => {
    commits.push(kv.commit({ puts }))
    puts = []
    if (commits.length >= 4) await commits.shift()
  }
  for (let group = 0; group < groups; group++) {
    for (let number = 0; number < keysOfGroup; number++) {
      puts.push({ key: keyOf(group, number), value })
      if (puts.length === keysACommit) await commit()
    }
  }
  await commit()
  await Promise.all(commits)
}

/** The CPU time of this process for one lookup, in microseconds. */
async function lookupCpuUs(kv: Kv, keysOfGroup: number): Promise<number> {
  const before = process.cpuUsage()
  const endMs = performance.now() + seconds * 1000
  let done = 0
  const look = async (): Promise<void> => {
    while (performance.now() < endMs) {
      const at = done++
      const [entry] = await kv.get([keyOf((at * 7919) % groups, (at * 31) % keysOfGroup)])
      if (entry === undefined) throw new Error('a lookup found nothing')
    }
  }
  await Promise.all(Array.from({ length: atOnce }, look))
  const { user, system } = process.cpuUsage(before)
  return (user + system) / done
}

/** How long one page takes on average, in milliseconds. */
async function pageMs(kv: Kv, query: RangeQuery): Promise<number> {
  const beganMs = performance.now()
  const endMs = beganMs + seconds * 1000
  let pages = 0
  while (performance.now() < endMs || pages === 0) {
    const found = await kv.range(query)
    if (found.length !== pageEntries) throw new Error(`a page has ${found.length} entries`)
    pages++
  }
  return (performance.now() - beganMs) / pages
}

const fail = (error: Error): never => {
  throw error
}
const postgres = await openPostgres({ url })
const lmdb = await openLmdb({ path: join(directory, 'lmdb'), onFatal: fail })
await fill(postgres, groupKeys)
await fill(lmdb, 1)
const start = packKey(...head)
const flat = { start, end: endOfPrefix(start), limit: pageEntries }
const fold = { head: start, text: 'tail', from: 0, delimiter: Buffer.of(slash) } as const
const folded = { ...flat, fold }
const costs: EngineCosts[] = []
// The first round is a warm-up.
for (let round = 0; round <= rounds; round++) {
  const lookup = { postgres: await lookupCpuUs(postgres, groupKeys), lmdb: await lookupCpuUs(lmdb, 1) }
  const page = { flat: await pageMs(postgres, flat), folded: await pageMs(postgres, folded) }
  if (round > 0) costs.push({ lookupCpuUs: lookup, pageMs: page })
}
process.stdout.write(`${JSON.stringify(costs)}\n`)
await Promise.all([postgres.close(), lmdb.close()])
