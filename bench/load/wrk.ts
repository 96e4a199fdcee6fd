/** Load by wrk, when it is installed: replays requests that were signed ahead. Its script and files lie in the scratch directory of the run. */
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Count, percentile, withoutWrkCorrection } from '../statistics.ts'
import type { WorkKind } from '../workloads.ts'
import type { LoopOptions } from './closed-loop.ts'
import type { Load } from './order.ts'
import type { PreparedRequests } from './requests.ts'
import { wrkScript } from './wrk-script.ts'

const runProgram = promisify(execFile)

/** It waits for the body of an answer to HEAD, and keeps large bodies once a connection; flows are beyond its scripts. */
const kindsOfWrk: readonly WorkKind[] = [
  'put',
  'get',
  'delete',
  'mixed',
  'range',
  'list',
  'list-delimiter',
  'list-deep',
]
const bodyBytesMax = 64 * 1024

export function canWrkDo(kind: WorkKind, objectBytes: number): boolean {
  const hasLargeBody = objectBytes > bodyBytesMax && (kind === 'put' || kind === 'get')
  return kindsOfWrk.includes(kind) && !hasLargeBody
}

export async function wrkInstalled(): Promise<boolean> {
  try {
    // It ends with 1 after it has printed its version.
    await runProgram('wrk', ['--version'])
    return true
  } catch (error) {
    return error instanceof Error && 'stdout' in error && String(error.stdout).startsWith('wrk')
  }
}

/** Rejects when any answer was no success. */
export async function wrkLoad(options: LoopOptions, scratch: string): Promise<Load> {
  const requestsFile = join(scratch, 'requests')
  const resultFile = join(scratch, 'result')
  const scriptFile = join(scratch, 'replay.lua')
  const bodies = [...new Set(options.prepared.requests.flatMap(({ body }) => body ?? []))]
  for (const [index, body] of bodies.entries()) writeFileSync(`${requestsFile}.body.${index + 1}`, body)
  writeFileSync(requestsFile, serialised(options.prepared, bodies))
  writeFileSync(scriptFile, wrkScript)
  const { host, port, connections, prepared, seconds } = options
  // It takes whole seconds.
  const words = [
    '-t1',
    `-c${connections}`,
    `-d${Math.max(1, Math.round(seconds))}s`,
    '--timeout',
    '60s',
    '-s',
    scriptFile,
  ]
  const environment = {
    ...process.env,
    REQUESTS: requestsFile,
    RESULT: resultFile,
    BODIES: String(bodies.length),
    CYCLIC: prepared.cyclic ? '1' : '0',
  }
  await runProgram('wrk', [...words, `http://${host}:${port}/`], { env: environment })
  return readResult(readFileSync(resultFile, 'utf8'), connections)
}

/** Each head behind a line with its length and the number of its body, 0 for none. */
function serialised({ requests }: PreparedRequests, bodies: readonly Buffer[]): Buffer {
  const numbers = new Map(bodies.map((body, index) => [body, index + 1]))
  return Buffer.concat(
    requests.flatMap(({ head, body }) => [
      Buffer.from(`${head.length} ${body === undefined ? 0 : numbers.get(body)}\n`),
      head,
    ]),
  )
}

/** The script's last lines: the summary, then a latency and its count on each line. Times are in microseconds. */
export function readResult(text: string, connections: number): Load {
  const [first = '', ...lines] = text.trim().split('\n')
  const [requests = 0, elapsedUs = 0, failures = 0, cpuUs = 0] = first.split(' ').map(Number)
  if (failures > 0) throw new Error(`${failures} requests of wrk failed; run it with --generator own to see how`)
  const corrected = lines.map((line): Count => {
    const [latencyUs = 0, count = 0] = line.split(' ').map(Number)
    return [latencyUs, count]
  })
  const interval = Math.floor(elapsedUs / Math.max(1, Math.floor(requests / connections)))
  const counts = withoutWrkCorrection(corrected, interval)
  return {
    requests,
    seconds: elapsedUs / 1e6,
    latencyMs: { p50: percentile(counts, 0.5) / 1000, p99: percentile(counts, 0.99) / 1000 },
    generatorCpuUs: cpuUs / requests,
  }
}
