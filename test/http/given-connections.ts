/** Connections that somebody else accepts and gives to the server, as a primary process does. */
import { once } from 'node:events'
import { createServer, type ListenOptions } from 'node:net'
import type { HttpServer } from '../../src/http/connections/server.ts'

export interface Giver {
  /** 0 where it listens on a path. */
  port: number
  close(): void
}

export async function giveConnections(to: HttpServer, listen: ListenOptions): Promise<Giver> {
  const giver = createServer({ noDelay: true, keepAlive: true }, (socket) => to.accept(socket))
  giver.listen(listen)
  await once(giver, 'listening')
  const address = giver.address()
  return {
    port: typeof address === 'object' ? (address?.port ?? 0) : 0,
    close: () => void giver.close(),
  }
}
