/** The messages between the primary and its workers, and the checks of received ones. */
import { z } from 'zod'
import type { Account } from '../auth/credentials.ts'
import type { Configuration } from '../config/configuration.ts'

const keyPair = z.object({ cert: z.string(), key: z.string() })

/** Not checked in depth, because the primary has checked the content. */
const configuration = z.custom<Configuration>((value) => typeof value === 'object' && value !== null)

/** The settings that every serving process applies when the configuration is read again. */
const renewal = z.object({ accounts: z.custom<readonly Account[]>(Array.isArray), logFile: z.string().optional() })
export type Renewal = z.infer<typeof renewal>

const toWorker = z.discriminatedUnion('kind', [
  /** The answer to `started`. Holds secrets, so it goes over the channel: other users can read arguments and the environment. */
  z.object({ kind: z.literal('serve'), configuration, instanceId: z.string(), keyPair: keyPair.optional() }),
  /** Comes with an accepted connection. The worker answers `took`. */
  z.object({ kind: z.literal('connection'), id: z.number() }),
  z.object({ kind: z.literal('renew-tls'), keyPair }),
  z.object({ kind: z.literal('renew'), renewal }),
  /** Identities have changed. The worker answers `knows`. */
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

/** Throws `ZodError` when the message is not one for workers. */
export function readToWorker(message: unknown): ToWorker {
  return toWorker.parse(message)
}

/** `undefined`: the message is not one from workers. */
export function readFromWorker(message: unknown): FromWorker | undefined {
  return fromWorker.safeParse(message).data
}
