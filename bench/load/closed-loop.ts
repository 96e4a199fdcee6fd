/** The lean generator: each connection sends its next request when it has the answer to the one before. Measures itself, too. */
import { percentile } from '../statistics.ts'
import { type Answer, Connection } from './connection.ts'
import type { Load } from './order.ts'
import { type PreparedRequest, type PreparedRequests, requestLine } from './requests.ts'

export interface LoopOptions {
  host: string
  port: number
  /** Ports of servers that take the same requests, over as many connections each. */
  portsBeside?: readonly number[]
  connections: number
  prepared: PreparedRequests
  /** Infinity: until the requests are used up. */
  seconds: number
}

/** Rejects with the first answer that is not as it must be. */
export async function closedLoop(options: LoopOptions): Promise<Load> {
  const { host, port, portsBeside = [], seconds, prepared } = options
  const ports = [port, ...portsBeside]
  const most = options.connections * ports.length
  const count = Math.max(1, prepared.cyclic ? most : Math.min(most, prepared.requests.length))
  const connections = await Promise.all(
    Array.from({ length: count }, (_, number) => Connection.open(host, ports[number % ports.length] ?? port)),
  )
  try {
    const latencies: number[] = []
    const cpuBefore = process.cpuUsage()
    const beganMs = performance.now()
    const next = takeTurns(prepared, beganMs + seconds * 1000)
    await Promise.all(
      connections.map((connection) => keepBusy(connection, next, { latencies, status: prepared.status })),
    )
    const elapsedMs = performance.now() - beganMs
    const cpu = process.cpuUsage(cpuBefore)
    return summary(latencies, elapsedMs, cpu.user + cpu.system)
  } finally {
    for (const connection of connections) connection.close()
  }
}

export function summary(latenciesMs: readonly number[], elapsedMs: number, cpuUs: number): Load {
  const counts = latenciesMs.map((latencyMs) => [latencyMs, 1] as const)
  return {
    requests: latenciesMs.length,
    seconds: elapsedMs / 1000,
    latencyMs: { p50: percentile(counts, 0.5), p99: percentile(counts, 0.99) },
    generatorCpuUs: cpuUs / latenciesMs.length,
  }
}

function takeTurns({ requests, cyclic }: PreparedRequests, endMs: number): () => PreparedRequest | undefined {
  let at = 0
  return () => {
    if (performance.now() >= endMs) return undefined
    if (cyclic && at === requests.length) at = 0
    return requests[at++]
  }
}

function keepBusy(
  connection: Connection,
  next: () => PreparedRequest | undefined,
  { latencies, status: wanted }: { latencies: number[]; status: number | undefined },
): Promise<void> {
  return new Promise((resolve, reject) => {
    let sentMs = 0
    let request = next()
    const send = (): void => {
      if (request === undefined) resolve()
      else {
        sentMs = performance.now()
        connection.send(request, onAnswer, reject)
      }
    }
    const onAnswer = ({ status, text }: Answer): void => {
      if (wanted === undefined ? status >= 300 : status !== wanted) {
        const sent = request === undefined ? 'a request' : requestLine(request)
        reject(new Error(`${sent} was answered ${status}: ${text.slice(0, 500)}`))
        return
      }
      latencies.push(performance.now() - sentMs)
      request = next()
      send()
    }
    send()
  })
}
