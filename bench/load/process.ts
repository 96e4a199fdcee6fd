/** The process that makes load: takes orders over its channel, one at a time, and answers what it measured. */
import { type Usage, usageOf, watchResident } from '../process-tree.ts'
import { closedLoop } from './closed-loop.ts'
import { createBucket } from './create-bucket.ts'
import { uploadInParts } from './multipart.ts'
import type { Endpoint, GeneratorName, Load, Order, Reply, RunResult } from './order.ts'
import { fillRequests, runSet, standingSet, workRequests } from './requests.ts'
import { slowClients } from './slow-clients.ts'
import { checkAnswer } from './sound-answer.ts'
import { canWrkDo, wrkLoad } from './wrk.ts'

const fillConnections = 64

/** How many objects of a set a server was given. */
const filled = new Map<string, number>()
const buckets = new Set<string>()

process.on('message', (order: Order) => {
  run(order).then(
    (result) => reply({ result }),
    (error) => reply({ error: error instanceof Error ? error.message : String(error) }),
  )
})
// The bench ended: there is nothing more to measure.
process.on('disconnect', () => process.exit())

function reply(message: Reply): void {
  process.send?.(message)
}

async function run(order: Order): Promise<RunResult> {
  const { workload, endpoint } = order
  if (endpoint.stores) await layOut(order)
  switch (workload.kind) {
    case 'multipart':
      return measured(order, 'own', () => uploadInParts(order))
    case 'slow':
      return measured(order, 'own', () => slowClients(order))
    default: {
      const { host, port } = endpoint
      const { connections } = workload
      const prepared = workRequests(order)
      await checkAnswer(order, prepared)
      const portsBeside = order.beside?.map((gateway) => gateway.port)
      const loop = { host, port, portsBeside, connections, seconds: order.seconds, prepared }
      if (order.generator === 'wrk' && canWrkDo(workload.kind, workload.objectBytes)) {
        return measured(order, 'wrk', () => wrkLoad(loop, order.scratch))
      }
      return measured(order, 'own', () => closedLoop(loop))
    }
  }
}

const usageOfRoot = (pid: number | undefined): Usage | undefined => (pid === undefined ? undefined : usageOf(pid))

async function measured(order: Order, generator: GeneratorName, makeLoad: () => Promise<Load>): Promise<RunResult> {
  const { pid, beside = [], databasePid, farPid } = order
  const pids = pid === undefined ? [] : [pid, ...beside.map((gateway) => gateway.pid)]
  const before = usageOf(...pids)
  if (pid === undefined || before === undefined) return { generator, ...(await makeLoad()) }
  const databaseBefore = usageOfRoot(databasePid)
  const farBefore = usageOfRoot(farPid)
  // Looking at a process costs: often enough for flows that take seconds, seldom enough for the rest.
  const watch = watchResident(pids, order.workload.kind === 'slow' ? 50 : 250)
  try {
    const load = await makeLoad()
    const eachUs = (from: Usage | undefined, to: Usage | undefined): number | undefined =>
      from === undefined || to === undefined ? undefined : (to.cpuUs - from.cpuUs) / load.requests
    return {
      generator,
      ...load,
      serverCpuUs: eachUs(before, usageOf(...pids)),
      databaseCpuUs: eachUs(databaseBefore, usageOfRoot(databasePid)),
      farCpuUs: eachUs(farBefore, usageOfRoot(farPid)),
      resident: { before: before.residentBytes, peak: watch.stop() },
    }
  } finally {
    watch.stop()
  }
}

/** The bucket, and what the work reads or deletes. */
async function layOut(order: Order): Promise<void> {
  const { endpoint, workload, numbers } = order
  await ensureBucket(endpoint)
  if (workload.objects === 0 || numbers !== undefined) return
  const set = workload.kind === 'delete' ? runSet(workload, order.run) : standingSet(workload)
  const name = `${addressOf(endpoint)}/${set}`
  if ((filled.get(name) ?? 0) >= workload.objects) return
  const connections = workload.objectBytes > 1024 * 1024 ? 8 : fillConnections
  const prepared = fillRequests(order, set, workload.objects)
  const portsBeside = order.beside?.map((gateway) => gateway.port)
  await closedLoop({ host: endpoint.host, port: endpoint.port, portsBeside, connections, prepared, seconds: Infinity })
  filled.set(name, workload.objects)
}

async function ensureBucket(endpoint: Endpoint): Promise<void> {
  const name = addressOf(endpoint)
  if (buckets.has(name)) return
  await createBucket(endpoint)
  buckets.add(name)
}

function addressOf({ host, port, bucket }: Endpoint): string {
  return `${host}:${port}/${bucket}`
}
