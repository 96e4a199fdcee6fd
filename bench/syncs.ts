/** Counts how often a server asks the kernel to sync while it answers PUTs, as strace sees it. */
import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { Connection } from './load/connection.ts'
import { createBucket } from './load/create-bucket.ts'
import { createBodies, RequestMaker } from './load/requests.ts'
import { treeOf } from './process-tree.ts'
import type { SyncCount } from './results.ts'
import type { Server } from './servers/server.ts'

const objectBytes = 4096
const syncs = ['fsync', 'fdatasync', 'sync_file_range', 'syncfs', 'sync', 'msync'] as const
/** Flags of `open` that make each write sync. The pattern skips the file's name. */
const syncFlags = /^[^"]*("(\\.|[^"\\])*")?[^"]*\bO_D?SYNC\b/

export function straceInstalled(): boolean {
  return spawnSync('strace', ['--version']).status === 0
}

/** Sends PUTs of 4 KiB one after the other, so that none shares a sync with another. */
export async function countSyncs(server: Server, requests: number, scratch: string): Promise<SyncCount[]> {
  if (server.pid === undefined) throw new Error(`${server.name} runs elsewhere`)
  await createBucket(server.endpoint)
  const maker = new RequestMaker(server.endpoint, createBodies(objectBytes))
  const connection = await Connection.open(server.endpoint.host, server.endpoint.port)
  const put = async (set: string, number: number): Promise<void> => {
    const { status, text } = await connection.ask(maker.put(set, number))
    if (status !== 200) throw new Error(`${server.name} answered a PUT with ${status}: ${text}`)
  }
  try {
    // The first PUTs also make what is made only once. They are not counted.
    for (let number = 0; number < requests; number++) await put('before', number)
    const file = join(scratch, `${server.name.replaceAll(/\W+/g, '-')}.strace`)
    const trace = await attach(treeOf(server.pid), file)
    for (let number = 0; number < requests; number++) await put('counted', number)
    trace.kill('SIGINT')
    await once(trace, 'exit')
    return callsOf(readFileSync(file, 'utf8')).map(({ call, count }) => ({ call, aRequest: count / requests }))
  } finally {
    connection.close()
  }
}

type Trace = ChildProcessByStdio<null, null, Readable>

async function attach(pids: readonly number[], file: string): Promise<Trace> {
  const words = ['-f', '-e', `trace=${syncs.join(',')},openat`, '-e', 'signal=none', '-o', file]
  const trace = spawn('strace', [...words, ...pids.flatMap((pid) => ['-p', `${pid}`])], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const waiting = new Set(pids)
  let said = ''
  for await (const line of createInterface({ input: trace.stderr })) {
    said += `${line}\n`
    waiting.delete(Number(/Process (\d+) attached/.exec(line)?.[1]))
    if (waiting.size === 0) return trace
  }
  throw new Error(`strace did not attach: ${said}`)
}

/** The calls in a trace that sync, the most frequent first. */
export function callsOf(trace: string): { call: string; count: number }[] {
  const counts = new Map<string, number>()
  for (const line of trace.split('\n')) {
    const [, name = '', words = ''] = /^\d+ +(\w+)\((.*)/.exec(line) ?? []
    const isSync = syncs.some((call) => call === name)
    const call = isSync ? name : syncFlags.test(words) ? 'open with O_SYNC' : undefined
    if (call !== undefined) counts.set(call, (counts.get(call) ?? 0) + 1)
  }
  return [...counts].map(([call, count]) => ({ call, count })).sort((a, b) => b.count - a.count)
}
