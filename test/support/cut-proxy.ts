/** A way to a server that can be cut, held and blackened, in either direction. */
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

export class CutProxy {
  readonly #server: Server
  readonly #pairs = new Set<{ client: Socket; upstream: Socket; held: Buffer[] }>()
  /** Called with what a client sends, before it goes on. `hold` keeps it, and all that comes after it on that connection. */
  onRequest: (bytes: Buffer) => 'pass' | 'hold' = () => 'pass'
  /** The same of what the server answers; `cut` ends the connection to the client instead. */
  onAnswer: (bytes: Buffer) => 'pass' | 'cut' | 'swallow' = () => 'pass'
  port = 0

  private constructor(server: Server) {
    this.#server = server
  }

  static async open(upstreamPort: number): Promise<CutProxy> {
    const server = createServer()
    const proxy = new CutProxy(server)
    server.on('connection', (client) => proxy.#join(client, upstreamPort))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    if (address !== null && typeof address === 'object') proxy.port = address.port
    return proxy
  }

  #join(client: Socket, upstreamPort: number): void {
    const pair = { client, upstream: connect(upstreamPort, '127.0.0.1'), held: [] as Buffer[] }
    this.#pairs.add(pair)
    let holds = false
    client.on('data', (bytes) => {
      holds ||= this.onRequest(bytes) === 'hold'
      if (holds) pair.held.push(bytes)
      else pair.upstream.write(bytes)
    })
    pair.upstream.on('data', (bytes) => {
      const what = this.onAnswer(bytes)
      if (what === 'cut') client.destroy()
      else if (what === 'pass') client.write(bytes)
    })
    client
      .on('error', () => {})
      .on('close', () => {
        if (pair.held.length === 0) pair.upstream.destroy()
      })
    pair.upstream.on('error', () => {}).on('close', () => client.destroy())
  }

  /** Ends all connections of clients. What is held can still be let go. */
  cutClients(): void {
    for (const { client } of this.#pairs) client.destroy()
  }

  /** Gives the server what was held, long after its client gave up. Resolves when the server has answered. */
  async letGo(): Promise<void> {
    for (const { upstream, held } of this.#pairs) {
      if (held.length === 0) continue
      const answered = once(upstream, 'data')
      upstream.write(Buffer.concat(held.splice(0)))
      await answered
      upstream.destroy()
    }
  }

  async close(): Promise<void> {
    for (const { client, upstream } of this.#pairs) {
      client.destroy()
      upstream.destroy()
    }
    this.#server.close()
    await once(this.#server, 'close')
  }
}
