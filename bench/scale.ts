/** Many small objects: fills a store, and measures what grows with it and what must not. */
import { join } from 'node:path'
import { type Generator, startGenerator } from './load/generator.ts'
import type { Order, RunResult } from './load/order.ts'
import { bytesOnDisk, describeMachine, settleDisk, withScratch } from './machine.ts'
import type { Say } from './measure.ts'
import type { BenchOptions } from './options.ts'
import { usageOf } from './process-tree.ts'
import { formatVersion, type ScalePage, type ScaleResults } from './results.ts'
import { type HoldfastServer, reclaim, startHoldfast } from './servers/holdfast.ts'
import { median } from './statistics.ts'
import type { WorkKind, Workload } from './workloads.ts'

const objectBytes = 4 * 1024
const smallObjectsMax = 10_000
/** Signed ahead at a time: signatures live 15 minutes. */
const requestsAtOnce = 20_000
const unlimitedSeconds = 86_400
const objectsBeforeKill = 1_000
const reclaimRunsMax = 8

/** The set that listings read. */
const standing = 'standing'

const pageKinds = [
  ['first page', 'list'],
  ['deep page', 'list-deep'],
  ['delimiter page', 'list-delimiter'],
] as const

/** The store at hand, and what was put into it. */
interface Scale {
  options: BenchOptions
  generator: Generator
  say: Say
  directory: string
  data: string
  server: HoldfastServer
  storedObjects: number
}

export async function measureScale(options: BenchOptions, say: Say): Promise<ScaleResults> {
  const generator = startGenerator()
  try {
    return await withScratch(options.directory, async (directory) => {
      const data = join(directory, 'data')
      settleDisk()
      const scale = {
        options,
        generator,
        say,
        directory,
        data,
        server: await startHoldfast('holdfast', { data }),
        storedObjects: 0,
      }
      try {
        return await measure(scale)
      } finally {
        await scale.server.close()
      }
    })
  } finally {
    await generator.close()
  }
}

async function measure(scale: Scale): Promise<ScaleResults> {
  const { options, say } = scale
  const { objects } = options
  const smallObjects = Math.min(smallObjectsMax, objects)
  const empty = residentOf(scale)
  const putRates = await putDeciles(scale)
  const pages = await measurePages(scale, smallObjects)
  scale.storedObjects += smallObjects
  const filled = { resident: residentOf(scale), disk: diskRatio(scale) }
  say(`disk over logical ${filled.disk.toFixed(2)}`)

  const startsAfterKill = await startsAfterKills(scale)
  await readSome(scale)
  const afterKill = residentOf(scale)
  const startsEmpty = await startsOfEmptyStores(scale)
  say(
    `start after kill -9 ${median(startsAfterKill).toFixed(0)} ms, with an empty store ${median(startsEmpty).toFixed(0)} ms`,
  )

  const deletedObjects = Math.floor(objects / 2)
  const deleteRate = await inBatches(scale, 'delete', { first: 0, count: deletedObjects, step: 2 })
  scale.storedObjects -= deletedObjects
  const halfDeleted = diskRatio(scale)
  say(`deleted half at ${deleteRate.toFixed(0)} /s`)
  const reclaimed = await reclaimAll(scale)
  say(`reclaimed: disk over logical ${halfDeleted.toFixed(2)} before, ${reclaimed.diskRatio.toFixed(2)} after`)
  await readSome(scale)
  return {
    format: formatVersion,
    machine: describeMachine(options.directory),
    objects,
    smallObjects,
    objectBytes,
    putRates,
    pages,
    startsAfterKill,
    startsEmpty,
    residentBytes: { empty, filled: filled.resident, afterKill },
    diskRatio: { filled: filled.disk, halfDeleted, reclaimed: reclaimed.diskRatio },
    deleteRate,
    reclaim: reclaimed.work,
  }
}

function workload(kind: WorkKind, objects: number, connections: number): Workload {
  const title = `scale, ${kind}`
  return {
    name: 'scale',
    title,
    kind,
    objectBytes,
    connections,
    objects,
    references: [],
    twoWorkers: false,
    encrypted: false,
    striped: false,
    chart: undefined,
  }
}

function run(
  { server, generator, directory }: Scale,
  order: Partial<Order> & Pick<Order, 'workload'>,
): Promise<RunResult> {
  return generator.run({
    endpoint: server.endpoint,
    pid: server.pid,
    seconds: unlimitedSeconds,
    run: standing,
    generator: 'own',
    scratch: directory,
    ...order,
  })
}

/** Objects a second. */
async function inBatches(
  scale: Scale,
  kind: 'put' | 'delete',
  { first, count, step }: { first: number; count: number; step: number },
): Promise<number> {
  let seconds = 0
  for (let done = 0; done < count; done += requestsAtOnce) {
    const numbers = { first: first + done * step, count: Math.min(requestsAtOnce, count - done), step }
    const result = await run(scale, { workload: workload(kind, 0, 64), numbers })
    seconds += result.seconds
  }
  return count / seconds
}

async function putDeciles(scale: Scale): Promise<number[]> {
  const count = Math.ceil(scale.options.objects / 10)
  const rates: number[] = []
  for (let decile = 0; decile < 10; decile++) {
    const rate = await inBatches(scale, 'put', { first: decile * count, count, step: 1 })
    scale.say(`PUT ${(decile + 1) * 10} %  ${rate.toFixed(0)} /s`)
    rates.push(rate)
  }
  scale.storedObjects += count * 10
  return rates
}

/** Both sets in turn, so that both are measured under the same conditions. */
async function measurePages(scale: Scale, smallObjects: number): Promise<ScalePage[]> {
  const { rounds, seconds } = scale.options
  const small = { ...scale.server.endpoint, bucket: 'small' }
  const pages: ScalePage[] = []
  for (const [name, kind] of pageKinds) {
    const cpu = { small: [] as number[], large: [] as number[] }
    // Compiled code and caches are warm before anything counts.
    await run(scale, { workload: workload(kind, smallObjects, 8), endpoint: small, seconds: Math.min(1, seconds) })
    for (let round = 0; round < rounds; round++) {
      const ofSmall = await run(scale, { workload: workload(kind, smallObjects, 8), endpoint: small, seconds })
      const ofLarge = await run(scale, { workload: workload(kind, 0, 8), seconds })
      cpu.small.push(ofSmall.serverCpuUs ?? Number.NaN)
      cpu.large.push(ofLarge.serverCpuUs ?? Number.NaN)
    }
    pages.push({ name, smallCpuUs: median(cpu.small), largeCpuUs: median(cpu.large) })
    scale.say(
      `LIST ${name}  ${median(cpu.small).toFixed(0)} us with few keys, ${median(cpu.large).toFixed(0)} us with all`,
    )
  }
  return pages
}

/** Milliseconds of each. The store has written until it was killed. */
async function startsAfterKills(scale: Scale): Promise<number[]> {
  const starts: number[] = []
  for (let round = 1; round <= scale.options.rounds; round++) {
    const numbers = { first: 0, count: objectsBeforeKill, step: 1 }
    await run(scale, { workload: workload('put', 0, 64), run: `kill-${round}`, numbers })
    scale.storedObjects += objectsBeforeKill
    await scale.server.kill()
    scale.server = await startHoldfast('holdfast', { data: scale.data })
    starts.push(scale.server.startMs)
  }
  return starts
}

async function startsOfEmptyStores({ directory, options }: Scale): Promise<number[]> {
  const starts: number[] = []
  for (let round = 1; round <= options.rounds; round++) {
    const data = join(directory, `empty-${round}`)
    // Its first start makes the directory; the second finds it as a store that has served before.
    await (await startHoldfast('empty', { data })).kill()
    const server = await startHoldfast('empty', { data })
    starts.push(server.startMs)
    await server.close()
  }
  return starts
}

/** Fails when an object is missing that is to be there. */
async function readSome(scale: Scale): Promise<void> {
  const count = Math.min(1_000, scale.options.objects / 2)
  const numbers = { first: 1, count, step: 2 }
  await run(scale, { workload: workload('get', 0, 8), numbers, seconds: 1 })
}

interface ReclaimedAll {
  diskRatio: number
  work: ScaleResults['reclaim']
}

/** On the stopped server, until nothing more is won. */
async function reclaimAll(scale: Scale): Promise<ReclaimedAll> {
  await scale.server.close()
  const work = { seconds: 0, runs: 0, blobsRemoved: 0, freedBytes: 0, movedShards: 0 }
  const beganMs = performance.now()
  for (let isDone = false; !isDone && work.runs < reclaimRunsMax; work.runs++) {
    const { freedBytes, movedShards, blobsRemoved, removedBatches } = await reclaim(scale.data)
    work.blobsRemoved += blobsRemoved
    work.freedBytes += freedBytes
    work.movedShards += movedShards
    isDone = blobsRemoved + removedBatches + movedShards === 0
  }
  work.seconds = (performance.now() - beganMs) / 1000
  scale.server = await startHoldfast('holdfast', { data: scale.data })
  return { diskRatio: diskRatio(scale), work }
}

function residentOf({ server }: Scale): number {
  return usageOf(server.pid)?.residentBytes ?? Number.NaN
}

function diskRatio({ data, storedObjects }: Scale): number {
  return bytesOnDisk(data) / (storedObjects * objectBytes)
}
