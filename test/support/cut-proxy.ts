/** A way to a server that can be cut, held, slowed and blackened, in either direction. */
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

export class CutProxy {
  readonly #server: Server
  readonly #pairs = new Set<{ client: Socket; upstream: Socket; held: Buffer[] }>()
  /**
   * Called with what a client sends, before it goes on. `hold` keeps it, and all that comes after it on that connection. `cut` lets it go on, and ends both
   * connections at once, so that the server may have got it or not.
   */
  onRequest: (bytes: Buffer) => 'pass' | 'hold' | 'cut' = () => 'pass'
  /** The same of what the server answers; `cut` ends the connection to the client instead. */
  onAnswer: (bytes: Buffer) => 'pass' | 'cut' | 'swallow' = () => 'pass'
  /** The server says nothing on connections that are opened now. */
  isDeafToNew = false
  port = 0
  /** New connections are ended at once. */
  refuses = false
  /** When they were, by `performance.now`. */
  readonly refusedAtMs: number[] = []
  /** For each piece of data, in each direction. */
  delayMs = 0
  #isStopped = false

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
    if (this.refuses) {
      this.refusedAtMs.push(performance.now())
      client.destroy()
      return
    }
    const pair = { client, upstream: connect(upstreamPort, '127.0.0.1'), held: [] as Buffer[] }
    for (const socket of [client, pair.upstream]) socket.setNoDelay(true)
    this.#pairs.add(pair)
    const [request, answer] = [this.#inOrder(), this.#inOrder()]
    let holds = false
    const isDeaf = this.isDeafToNew || this.#isStopped
    client.on('data', (bytes) => {
      const what = this.onRequest(bytes)
      holds ||= what === 'hold'
      if (holds) pair.held.push(bytes)
      else request(() => pair.upstream.write(bytes))
      if (what === 'cut') setImmediate(() => client.destroy())
    })
    pair.upstream.on('data', (bytes) => {
      const what = isDeaf ? 'swallow' : this.onAnswer(bytes)
      if (what === 'cut') client.destroy()
      else if (what === 'pass') answer(() => client.write(bytes))
    })
    client
      .on('error', () => {})
      .on('close', () => {
        if (pair.held.length > 0) return
        pair.upstream.destroy()
        this.#pairs.delete(pair)
      })
    pair.upstream.on('error', () => {}).on('close', () => client.destroy())
    if (this.#isStopped) client.pause()
  }

  /** Does one thing after the other, each after the delay. */
  #inOrder(): (act: () => void) => void {
    let last = Promise.resolve()
    let waiting = 0
    return (act) => {
      if (this.delayMs === 0 && waiting === 0) {
        act()
        return
      }
      waiting++
      last = last
        .then(() => delay(this.delayMs))
        .then(() => {
          waiting--
          act()
        })
    }
  }

  /** From now on, reads nothing of clients, and not that they hang up: like a server whose process is stopped. */
  stop(): void {
    this.#isStopped = true
    for (const { client } of this.#pairs) client.pause()
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
