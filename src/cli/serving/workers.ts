/**
 * Serves one port with several worker processes. The primary accepts connections and hands them over. Cluster's own round robin would leave a
 * connection that it sent to a dying worker open forever, and a shared listening socket loads workers unevenly.
 */
import { createServer, type Socket } from 'node:net'
import { opening } from '../../closing-stack.ts'
import type { ListenAddress } from '../../config/kinds.ts'
import { boundAddress } from '../../http/connections/server.ts'
import { limits } from '../../limits.ts'
import type { S3Processes } from '../../opening/admin/s3-processes.ts'
import { ListenFailed, urlOf } from '../../opening/listen-address.ts'
import { Crew, type CrewOptions } from './crew.ts'
import type { Renewal } from './worker-messages.ts'

export interface Workers {
  url: string
  /** Rejects when workers die too fast to be worth replacing. */
  failed: Promise<never>
  renew(renewal: Renewal): void
  /** Call it when `consoleOrigins` has changed. */
  renewConsoleOrigins(): void
  /** Resolves when all know this generation of identities, or have ended. */
  teach(generation: number): Promise<void>
  processes: S3Processes
  /** Resolves when all have answered their requests and ended. */
  close(): Promise<void>
}

/** Resolves when all workers serve. Throws `ListenFailed`, `WorkerFailed`. */
export function startWorkers(options: CrewOptions): Promise<Workers> {
  return opening(async (opened) => {
    const crew = new Crew(options)
    opened.add(() => crew.drain())
    const { configuration, keyPairFiles } = options
    const { listen } = configuration
    keyPairFiles?.watch((pair) => crew.renewTls(pair))
    const { port, stop } = await acceptOn(listen, (socket) => crew.give(socket))
    opened.add(stop)
    await crew.start()
    return {
      url: urlOf(listen.host, port, { secure: keyPairFiles !== undefined }),
      failed: crew.failed,
      renew: (renewal) => crew.renew(renewal),
      renewConsoleOrigins: () => crew.renewConsoleOrigins(),
      teach: (generation) => crew.teach(generation),
      processes: {
        recentRequests: () => crew.recentRequests(),
        watchRequests: (see) => crew.watchRequests(see),
        reports: () => crew.traffic(),
        setLogLevel: (level) => crew.setLogLevel(level),
      },
      close: opened.close,
    }
  })
}

function acceptOn(address: ListenAddress, give: (socket: Socket) => void): Promise<{ port: number; stop: () => void }> {
  const server = createServer({ pauseOnConnect: true, noDelay: true, keepAlive: true }, give)
  return new Promise((resolve, reject) => {
    const refuse = (error: Error): void => reject(new ListenFailed(address, error))
    server.once('error', refuse)
    server.listen({ ...address, backlog: limits.connectionsQueued }, () => {
      server.off('error', refuse)
      const { port } = boundAddress(server)
      // Does not wait for the server's `close`, which would also wait for connections that workers have.
      resolve({ port, stop: () => void server.close() })
    })
  })
}
