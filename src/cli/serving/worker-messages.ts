/** The messages between the primary and its workers, and the checks of received ones. */
import { z } from 'zod'
import { logLevel } from '../../admin/state-views.ts'
import type { Account } from '../../auth/credentials.ts'
import type { SeenRequest } from '../../http/telemetry/request-feed.ts'
import type { TrafficSnapshot } from '../../http/telemetry/traffic.ts'
import type { ProcessLoad } from '../../metrics/process-load.ts'
import type { ServedConfiguration } from './worker-count.ts'

/** The descriptor of a worker's pipe to its primary, for commits. */
export const commitPipe = 4

const keyPair = z.object({ cert: z.string(), key: z.string() })

/** Not checked in depth, because the primary has checked the content. */
const configuration = z.custom<ServedConfiguration>((value) => typeof value === 'object' && value !== null)

/** The settings that every serving process applies when the configuration is read again. */
const renewal = z.object({ accounts: z.custom<readonly Account[]>(Array.isArray), logFile: z.string().optional() })
export type Renewal = z.infer<typeof renewal>

/** Not checked in depth, because the sender is the same program. */
const seenRequests = z.custom<SeenRequest[]>(Array.isArray)

const traffic = z.custom<TrafficSnapshot>((value) => typeof value === 'object' && value !== null)
const load = z.custom<ProcessLoad>((value) => typeof value === 'object' && value !== null)

const toWorker = z.discriminatedUnion('kind', [
  /** The answer to `started`. Holds secrets, so it goes over the channel: other users can read arguments and the environment. */
  z.object({
    kind: z.literal('serve'),
    configuration,
    instanceId: z.string(),
    keyPair: keyPair.optional(),
    consoleOrigins: z.array(z.string()),
  }),
  /** Comes with an accepted connection. The worker answers `took`. */
  z.object({ kind: z.literal('connection'), id: z.number() }),
  z.object({ kind: z.literal('renew-tls'), keyPair }),
  z.object({ kind: z.literal('renew'), renewal }),
  /** These origins replace those of `serve`. */
  z.object({ kind: z.literal('console-origins'), consoleOrigins: z.array(z.string()) }),
  /** Identities have changed. The worker answers `knows`. */
  z.object({ kind: z.literal('learn'), generation: z.number() }),
  /** The worker answers `report`. */
  z.object({ kind: z.literal('ask-report'), id: z.number() }),
  /** Whether the worker sends `requests` from now on. */
  z.object({ kind: z.literal('watch-requests'), on: z.boolean() }),
  z.object({ kind: z.literal('log-level'), level: logLevel }),
  z.object({ kind: z.literal('drain') }),
])
export type ToWorker = z.infer<typeof toWorker>

const fromWorker = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('started') }),
  z.object({ kind: z.literal('ready') }),
  z.object({ kind: z.literal('took'), id: z.number() }),
  z.object({ kind: z.literal('knows'), generation: z.number() }),
  z.object({ kind: z.literal('report'), id: z.number(), report: z.object({ recent: seenRequests, traffic, load }) }),
  z.object({ kind: z.literal('requests'), lines: seenRequests }),
  z.object({ kind: z.literal('failed'), message: z.string() }),
])
export type FromWorker = z.infer<typeof fromWorker>
/** What a worker reports about itself on request. */
export type WorkerReport = Extract<FromWorker, { kind: 'report' }>['report']

/** Throws `ZodError` when the message is not one for workers. */
export function readToWorker(message: unknown): ToWorker {
  return toWorker.parse(message)
}

/** `undefined`: the message is not one from workers. */
export function readFromWorker(message: unknown): FromWorker | undefined {
  return fromWorker.safeParse(message).data
}
