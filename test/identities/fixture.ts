/** Identities over an engine of metadata, as one process or several would open them. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Account } from '../../src/auth/credentials.ts'
import type { KeysInUse } from '../../src/commits/backend.ts'
import type { ServedIdentities } from '../../src/identities/identities.ts'
import { openIdentities } from '../../src/identities/open-identities.ts'
import { IdentityRefused } from '../../src/identities/refusal.ts'
import type { Kv } from '../../src/kv/kv.ts'
import { openLmdb } from '../../src/kv/lmdb.ts'
import { memoryKv } from '../../src/kv/memory.ts'
import type { LeaseTime } from '../../src/lease-time.ts'
import { testKeys } from '../objects/fixture.ts'
import { seededClock, seededRandom, type TestClock } from '../support/seeded.ts'

/** What the configuration declares. */
export const declared: readonly Account[] = [
  {
    id: 'main',
    name: 'Main',
    keys: [
      { accessKeyId: 'AKROOT', secretAccessKey: 'secret-of-the-root-key' },
      { accessKeyId: 'AKNARROW', secretAccessKey: 'secret-of-a-narrow-key', permissions: ['s3:Get*'] },
    ],
  },
]

export interface Engine {
  kv: Kv
  close(): Promise<void>
}

export const engines: readonly [name: string, open: () => Promise<Engine>][] = [
  [
    'in memory',
    async () => {
      const kv = memoryKv()
      return { kv, close: () => kv.close() }
    },
  ],
  [
    'in LMDB',
    async () => {
      const path = await mkdtemp(join(tmpdir(), 'holdfast-identities-'))
      const kv = await openLmdb({
        path,
        onFatal: (error) => {
          throw error
        },
      })
      return {
        kv,
        close: async () => {
          await kv.close()
          await rm(path, { recursive: true })
        },
      }
    },
  ],
]

/** Time that a test makes go on. */
export class ManualTime implements LeaseTime {
  #ms = 0
  readonly #waiting = new Set<{ untilMs: number; resolve: () => void }>()

  nowMs(): number {
    return this.#ms
  }

  sleep(ms: number): { ended: Promise<void>; cancel(): void } {
    let waiting: { untilMs: number; resolve: () => void } | undefined
    const ended = new Promise<void>((resolve) => {
      waiting = { untilMs: this.#ms + ms, resolve }
      this.#waiting.add(waiting)
    })
    return { ended, cancel: () => void (waiting && this.#waiting.delete(waiting)) }
  }

  /** Nobody looks but for a reason. */
  every(): () => void {
    return () => {}
  }

  get sleepers(): number {
    return this.#waiting.size
  }

  pass(ms: number): void {
    this.#ms += ms
    for (const waiting of this.#waiting) {
      if (waiting.untilMs > this.#ms) continue
      this.#waiting.delete(waiting)
      waiting.resolve()
    }
  }
}

export interface Process extends ServedIdentities {
  clock: TestClock
  warnings: string[]
}

interface ProcessOptions {
  accounts?: readonly Account[]
  keys?: KeysInUse
  time?: LeaseTime
  seed?: number
}

export async function openProcess(
  kv: Kv,
  { accounts = declared, keys = testKeys, time, seed = 1 }: ProcessOptions = {},
): Promise<Process> {
  const clock = seededClock(seededRandom(seed))
  const warnings: string[] = []
  const warn = (message: string): void => void warnings.push(message)
  const backend = { kv, keys, clock }
  const served = await openIdentities({ backend, accounts, warn, ...(time === undefined ? {} : { time }) })
  return { ...served, clock, warnings }
}

/** `ok`, or the code of what refused it. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'ok'
  } catch (error) {
    if (error instanceof IdentityRefused) return error.code
    throw error
  }
}

export const allowing = (...actions: readonly string[]): string =>
  JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: actions, Resource: '*' }] })
