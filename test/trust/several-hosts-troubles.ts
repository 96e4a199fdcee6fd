/** What happens to the hosts of the storm: kills, a stop that outlasts leases, a network that is cut, slow, or cut in the middle of a commit. */
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { type Asked, asObject, StormClient, signed, textsOf } from './several-hosts-client.ts'
import { buckets } from './several-hosts-tools.ts'
import type { Gateway, World } from './several-hosts-world.ts'

export const troubles = ['kill', 'fail over', 'stop', 'cut', 'slow', 'cut in commits'] as const
export type Trouble = (typeof troubles)[number]

export class Troubles {
  readonly counts: Record<Trouble, number> = { kill: 0, 'fail over': 0, stop: 0, cut: 0, slow: 0, 'cut in commits': 0 }
  /** Those included that came with a fail-over. */
  kills = 0
  /** Connections that were ended while a commit was on its way. */
  cutCommits = 0
  /** Requests that a stopped gateway found when it went on. */
  refusedAfterStop = 0
  readonly #world: World
  readonly #random: () => number
  readonly #violate: (sentence: string) => void
  #stops = 0

  constructor(world: World, random: () => number, violate: (sentence: string) => void) {
    this.#world = world
    this.#random = random
    this.#violate = violate
  }

  async cause(trouble: Trouble): Promise<void> {
    const gateway = this.#anyGateway()
    if (trouble === 'kill')
      await Promise.all([...new Set([gateway, this.#anyGateway()])].map((each) => this.#kill(each)))
    // A gateway dies at the same moment, and starts while nothing can be written.
    else if (trouble === 'fail over') await Promise.all([this.#world.pair.failOver(), this.#kill(gateway)])
    else if (trouble === 'stop') await this.#stop()
    else if (trouble === 'cut') await this.#cut(gateway)
    else if (trouble === 'slow') await this.#slow(gateway)
    else await this.#cutInCommits(gateway)
    this.counts[trouble]++
  }

  #anyGateway(): Gateway {
    const serving = this.#world.gateways.filter(({ endpoint }) => endpoint !== undefined)
    const [first] = this.#world.gateways
    const gateway = serving[Math.floor(this.#random() * serving.length)] ?? first
    if (gateway === undefined) throw new Error('there are gateways')
    return gateway
  }

  async #kill(gateway: Gateway): Promise<void> {
    await gateway.end('SIGKILL')
    await gateway.start()
    this.kills++
  }

  /** For less than a lease, or for more. */
  async #cut({ proxies }: Gateway): Promise<void> {
    for (const proxy of proxies) {
      proxy.refuses = true
      proxy.cutClients()
    }
    await delay(this.#world.leaseMs * (this.#random() < 0.5 ? 0.3 : 1.5))
    for (const proxy of proxies) proxy.refuses = false
  }

  async #slow({ proxies }: Gateway): Promise<void> {
    for (const proxy of proxies) proxy.delayMs = 20 + this.#random() * 100
    await delay(Math.min(3000, this.#world.leaseMs))
    for (const proxy of proxies) proxy.delayMs = 0
  }

  async #cutInCommits({ proxies }: Gateway): Promise<void> {
    let cuts = 0
    // The name of the prepared statement, as each of its uses has it.
    const onRequest = (bytes: Buffer): 'pass' | 'cut' => {
      if (!bytes.includes('\0commit\0') || this.#random() > 0.2) return 'pass'
      cuts++
      return 'cut'
    }
    for (const proxy of proxies) proxy.onRequest = onRequest
    for (let i = 0; i < 50 && cuts < 5; i++) await delay(100)
    for (const proxy of proxies) proxy.onRequest = () => 'pass'
    this.cutCommits += cuts
  }

  /** The maintainer stops for three leases, with requests in its hands and others before its door. Nothing of them may be committed, acknowledged or removed. */
  async #stop(): Promise<void> {
    const { gateways, leaseMs } = this.#world
    const held = (await this.#maintainer()) ?? this.#anyGateway()
    const stop = `stop-${this.#stops++}`
    held.isShunned = true
    const elsewhere = new StormClient(() => this.#world.endpoints, this.#random)
    const address = (key: string): Pick<Asked, 'bucket' | 'key'> => ({ bucket: buckets.owned, key: `${stop}/${key}` })
    try {
      await elsewhere.must({ method: 'PUT', ...address('kept'), body: 'kept' })
      // Those that were under way end first.
      await delay(500)
      const { pid, endpoint = '' } = held
      const puts = Array.from(
        { length: 6 },
        (_, i) => new RawRequest(endpoint, { method: 'PUT', ...address(`put-${i}`), body: 'x'.repeat(2000) }),
      )
      for (const put of puts.slice(0, 4)) put.sendHalf()
      await delay(200)
      held.signal('SIGSTOP')
      const removal = new RawRequest(endpoint, { method: 'DELETE', ...address('kept') })
      for (const request of [...puts, removal]) request.sendRest()
      await delay(3 * leaseMs)
      const others = gateways.filter((gateway) => gateway !== held && gateway.endpoint !== undefined)
      await this.#untilGone(others[0] ?? held, pid)
      held.signal('SIGCONT')
      for (const request of [...puts, removal]) {
        const status = await request.status()
        if (status !== undefined && status < 400) this.#violate(`a gateway that was stopped answered ${status}`)
        else this.refusedAfterStop++
      }
      const query = { 'list-type': '2', prefix: `${stop}/` }
      const { body } = await elsewhere.must({ method: 'GET', bucket: buckets.owned, query })
      const there = textsOf(body, 'Key')
      if (there.join() !== `${stop}/kept`) this.#violate(`after a stop there is ${there.join() || 'nothing'}`)
      await elsewhere.must({ method: 'DELETE', ...address('kept') })
    } finally {
      held.isShunned = false
      elsewhere.close()
    }
  }

  async #maintainer(): Promise<Gateway | undefined> {
    const [first] = this.#world.gateways
    const members = first === undefined ? [] : await this.#world.members(first)
    const holder = members.find(({ maintainer }) => maintainer !== undefined && maintainer > 0)
    return this.#world.gateways.find(({ pid, endpoint }) => endpoint !== undefined && pid === holder?.pid)
  }

  async #untilGone(asked: Gateway, pid: number): Promise<void> {
    for (let i = 0; i < 60; i++) {
      if ((await this.#world.members(asked)).every((member) => member.pid !== pid)) return
      await delay(500)
    }
    this.#violate('nobody declared a stopped gateway gone')
  }
}

/** A request whose bytes are sent when the test wants it. */
class RawRequest {
  readonly #socket: Socket
  readonly #bytes: Buffer
  readonly #answer: Promise<number | undefined>
  #sent = 0

  constructor(endpoint: string, asked: Asked) {
    const { method, target, headers, body } = signed(endpoint, asked)
    const head = Object.entries(asObject(headers)).map(([name, value]) => `${name}: ${value}\r\n`)
    this.#bytes = Buffer.concat([Buffer.from(`${method} ${target} HTTP/1.1\r\n${head.join('')}\r\n`), body])
    const { hostname, port } = new URL(endpoint)
    this.#socket = connect(Number(port), hostname)
    this.#answer = new Promise((resolve) => {
      this.#socket.on('data', (bytes) => resolve(Number(bytes.toString().split(' ')[1])))
      this.#socket.on('error', () => resolve(undefined))
      this.#socket.on('close', () => resolve(undefined))
    })
  }

  sendHalf(): void {
    this.#sent = this.#bytes.length - 1000
    this.#socket.write(this.#bytes.subarray(0, this.#sent))
  }

  sendRest(): void {
    this.#socket.write(this.#bytes.subarray(this.#sent))
  }

  /** `undefined`: the connection ended without one. */
  async status(): Promise<number | undefined> {
    const status = await this.#answer
    this.#socket.destroy()
    return status
  }
}
