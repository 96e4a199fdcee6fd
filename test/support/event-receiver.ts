/** A receiver of events, as operators run them: an HTTP server that keeps what is posted to it. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface Posted {
  headers: IncomingHttpHeaders
  message: EventMessage
}

/** What of a message the tests read. */
export interface EventMessage {
  Event?: string
  EventName?: string
  Key?: string
  Records?: [EventRecord]
}

export interface EventRecord {
  eventName: string
  eventTime: string
  awsRegion: string
  userIdentity: { principalId: string }
  requestParameters: { sourceIPAddress: string }
  responseElements: Record<string, string>
  s3: {
    configurationId: string
    bucket: { name: string; arn: string; ownerIdentity: { principalId: string } }
    object: { key: string; size?: number; eTag?: string; versionId?: string; sequencer: string }
  }
}

export interface EventReceiver extends AsyncDisposable {
  url: string
  /** What was posted and taken so far, in order. */
  readonly taken: readonly Posted[]
  /** What was posted and not taken. */
  readonly refused: readonly Posted[]
  /** Statuses of the answers, as long as it is set. `gone`: the connection ends instead; `never`: it stays open. Absent: 200. */
  answer: ((message: EventMessage) => number | 'gone' | 'never') | undefined
  /** Resolves when `enough` holds of all that was taken. */
  until(enough: (taken: readonly Posted[]) => boolean): Promise<void>
  /** The same of what was refused. */
  untilRefused(enough: (refused: readonly Posted[]) => boolean): Promise<void>
}

export async function openEventReceiver(port = 0): Promise<EventReceiver> {
  const taken: Posted[] = []
  const refused: Posted[] = []
  const waiting = new Set<() => void>()
  const server = createServer(async (request, response) => {
    const message = JSON.parse(await text(request))
    const status = receiver.answer?.(message) ?? 200
    const isTaken = typeof status === 'number' && status < 300
    ;(isTaken ? taken : refused).push({ headers: request.headers, message })
    if (status === 'gone') response.destroy()
    else if (status !== 'never') response.writeHead(status).end()
    for (const look of waiting) look()
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const until = (list: readonly Posted[]) => (enough: (list: readonly Posted[]) => boolean) =>
    new Promise<void>((resolve) => {
      const look = (): void => {
        if (!enough(list)) return
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      look()
    })
  const { port: bound } = server.address() as AddressInfo
  const receiver: EventReceiver = {
    url: `http://127.0.0.1:${bound}/events`,
    taken,
    refused,
    answer: undefined,
    until: until(taken),
    untilRefused: until(refused),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return receiver
}
