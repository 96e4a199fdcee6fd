/** A port for a server that must know it before it listens, or that listens there again after it was stopped. */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below those that systems give to clients and to servers that ask for any port: a server that is stopped and started again finds its port free. */
const ports = { first: 18_000, count: 12_000 }

export async function freePort(): Promise<number> {
  for (;;) {
    const port = ports.first + randomInt(ports.count)
    const server = createServer()
    try {
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
      return port
    } catch {
      // Another server has it.
    } finally {
      server.close()
    }
  }
}
