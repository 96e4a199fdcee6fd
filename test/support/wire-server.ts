/** A server over memory for wire tests: two accounts, and the log line of every request, by which a test knows what the server took it for. */
import { type Account, type AccountKey, openCredentials } from '../../src/auth/credentials.ts'
import { type Clock, systemClock } from '../../src/clock.ts'
import { emptyStore } from '../../src/empty-store.ts'
import type { HttpBounds } from '../../src/http/bounds.ts'
import type { RequestLog } from '../../src/http/request-log.ts'
import { createHttpServer } from '../../src/http/server.ts'
import { openMemoryStore } from '../../src/open.ts'
import { operations } from '../../src/operations/table.ts'
import type { Store } from '../../src/store/store.ts'

/** The account that sends, unless a test says otherwise. */
export const mainKey = { accessKeyId: 'AKMAIN', secretAccessKey: 'main-secret-of-the-wire-tests' }
export const otherKey = { accessKeyId: 'AKOTHER', secretAccessKey: 'other-secret-of-the-wire-tests' }

const accountsWith = (mainKeys: readonly AccountKey[]): readonly Account[] => [
  { id: 'main', name: 'Main', keys: [mainKey, ...mainKeys] },
  { id: 'other', name: 'Other', keys: [otherKey] },
]

export interface WireServer {
  port: number
  /** Resolves when the request's line has been logged. */
  logged(requestId: string): Promise<RequestLog>
  /** Errors that no table foresees, of all requests so far: each is a bug. */
  unexpected: unknown[]
  /** Removes all buckets. */
  empty(): Promise<void>
  close(): Promise<void>
}

export interface WireServerOptions {
  bounds?: Partial<HttpBounds>
  clock?: Clock
  region?: string
  /** Further keys of the main account. */
  keys?: readonly AccountKey[]
  /** What the server is given for the store over memory: slowed down, or watched. */
  over?(store: Store): Store
}

export async function startWireServer({
  bounds = {},
  clock = systemClock,
  region = 'us-east-1',
  keys = [],
  over = (store) => store,
}: WireServerOptions = {}): Promise<WireServer> {
  const memory = openMemoryStore(['invoices'])
  const lines = new Map<string, RequestLog>()
  const waiting = new Map<string, (line: RequestLog) => void>()
  const unexpected: unknown[] = []
  const server = createHttpServer({
    operations,
    store: over(memory.store),
    credentials: openCredentials(accountsWith(keys)),
    domains: [],
    region,
    clock,
    ready: () => true,
    bounds: { lingerMs: 200, ...bounds },
    log: (line) => {
      if (line.error !== undefined) unexpected.push(line.error)
      lines.set(line.requestId, line)
      waiting.get(line.requestId)?.(line)
    },
  })
  const { port } = await server.listen('127.0.0.1', 0)
  return {
    port,
    unexpected,
    logged: (requestId) =>
      new Promise((resolve) => {
        const line = lines.get(requestId)
        if (line === undefined) waiting.set(requestId, resolve)
        else resolve(line)
      }),
    empty: () => emptyStore(memory.store),
    close: async () => {
      await server.close()
      await memory.close()
    },
  }
}
