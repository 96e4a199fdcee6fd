/** What the primary and its workers tell each other, and the check of what arrives. */
import { z } from 'zod'
import type { Account } from '../auth/credentials.ts'
import type { Configuration } from '../config/configuration.ts'

const keyPair = z.object({ cert: z.string(), key: z.string() })

/** The primary has checked its content. */
const configuration = z.custom<Configuration>((value) => typeof value === 'object' && value !== null)

/** What every serving process applies when the configuration is read again. */
const renewal = z.object({ accounts: z.custom<readonly Account[]>(Array.isArray), logFile: z.string().optional() })
export type Renewal = z.infer<typeof renewal>

const toWorker = z.discriminatedUnion('kind', [
  /** Answers `started`. Sent over the channel, not by environment or arguments, which other users may read: it holds secrets. */
  z.object({ kind: z.literal('serve'), configuration, instanceId: z.string(), keyPair: keyPair.optional() }),
  /** Comes with an accepted connection; answered by `took`. */
  z.object({ kind: z.literal('connection'), id: z.number() }),
  z.object({ kind: z.literal('renew-tls'), keyPair }),
  z.object({ kind: z.literal('renew'), renewal }),
  /** Identities have changed; answered by `knows`. */
  z.object({ kind: z.literal('learn'), generation: z.number() }),
  z.object({ kind: z.literal('drain') }),
])
export type ToWorker = z.infer<typeof toWorker>

const fromWorker = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('started') }),
  z.object({ kind: z.literal('ready') }),
  z.object({ kind: z.literal('took'), id: z.number() }),
  z.object({ kind: z.literal('knows'), generation: z.number() }),
  z.object({ kind: z.literal('failed'), message: z.string() }),
])
export type FromWorker = z.infer<typeof fromWorker>

/** Throws `ZodError` when the message is none of these. */
export function readToWorker(message: unknown): ToWorker {
  return toWorker.parse(message)
}

/** `undefined`: the message is none of these. */
export function readFromWorker(message: unknown): FromWorker | undefined {
  return fromWorker.safeParse(message).data
}
