/** The admin port's operations on how the server runs: its configuration, its log, the requests that it serves, and what it supports. */
import { z } from 'zod'
import type { SeenRequest } from '../http/telemetry/request-feed.ts'
import { limits } from '../limits.ts'
import { defineAdminOperation, defineAdminStream } from './requests/operation.ts'
import type { RequestFeed } from './services.ts'
import { logLevel, requestView, settingView } from './state-views.ts'
import { noInput } from './views.ts'

const getConfiguration = defineAdminOperation({
  name: 'GetConfiguration',
  summary: 'Shows the value of each option, from whichever source it comes. Secrets are left out.',
  method: 'GET',
  path: '/v1/configuration',
  permission: 'admin:GetConfiguration',
  status: 200,
  input: noInput,
  output: z.object({ settings: z.array(settingView) }),
  handle: async ({ settings }) => ({ settings: settings() }),
})

const level = z.strictObject({ level: logLevel })

const getLogLevel = defineAdminOperation({
  name: 'GetLogLevel',
  summary: 'Shows the log level: the least severe lines that are written.',
  method: 'GET',
  path: '/v1/log/level',
  permission: 'admin:GetLogLevel',
  status: 200,
  input: noInput,
  output: level,
  handle: async (context) => ({ level: context.logLevel.get() }),
})

const setLogLevel = defineAdminOperation({
  name: 'SetLogLevel',
  summary:
    'Changes the log level of this server, with all its workers, until it is started again. `info` logs each request.',
  method: 'PUT',
  path: '/v1/log/level',
  permission: 'admin:SetLogLevel',
  status: 200,
  input: level,
  output: level,
  handle: async (context, _, asked) => {
    context.logLevel.set(asked.level)
    return asked
  },
})

const listRequests = defineAdminOperation({
  name: 'ListRequests',
  summary: 'Lists the latest requests to the S3 port of this server, the newest first.',
  method: 'GET',
  path: '/v1/requests',
  permission: 'admin:ServerTrace',
  status: 200,
  input: noInput,
  output: z.object({ requests: z.array(requestView) }),
  handle: async ({ requests }) => ({ requests: await requests.recent() }),
})

const watchRequests = defineAdminStream({
  name: 'WatchRequests',
  summary:
    'Streams the requests to the S3 port of this server as server-sent events. `dropped` counts those that were left out because the client was too slow.',
  path: '/v1/requests/events',
  permission: 'admin:ServerTrace',
  input: z.strictObject({
    /** Lists only failed requests. */
    failed: z.literal('true').optional(),
  }),
  output: z.object({ requests: z.array(requestView), dropped: z.number() }),
  events: ({ requests }, { failed }, signal) =>
    batches(requests, signal, ({ status }) => failed === undefined || status === 0 || status >= 400),
})

/** Lines that come while the client is still reading are sent together next. */
async function* batches(
  feed: RequestFeed,
  signal: AbortSignal,
  isWanted: (line: SeenRequest) => boolean,
): AsyncGenerator<{ requests: z.input<typeof requestView>[]; dropped: number }> {
  let waiting: z.input<typeof requestView>[] = []
  let dropped = 0
  let wake = (): void => {}
  const stop = feed.watch((line) => {
    if (!isWanted(line)) return
    if (waiting.length >= limits.requestsHeldMax) dropped++
    else waiting.push(line)
    wake()
  })
  signal.addEventListener('abort', () => wake(), { once: true })
  try {
    while (!signal.aborted) {
      if (waiting.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
        continue
      }
      const batch = { requests: waiting, dropped }
      waiting = []
      dropped = 0
      yield batch
    }
  } finally {
    stop()
  }
}

const getSupport = defineAdminOperation({
  name: 'GetSupport',
  summary: 'Shows how this version treats each S3 operation and each of its parameters.',
  method: 'GET',
  path: '/v1/support',
  permission: 'sender',
  status: 200,
  input: noInput,
  output: z.object({ operations: z.array(z.looseObject({ name: z.string() })) }),
  handle: async ({ support }) => ({ operations: [...support()] }),
})

export const operatingOperations = [getConfiguration, getLogLevel, setLogLevel, listRequests, watchRequests, getSupport]
