/** Gateways as real processes over a PostgreSQL with a standby and three shared stores. Each has a clock of its own, and its own way to either PostgreSQL. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import {
  environmentKey,
  keyVariables,
  type Outcome,
  program,
  type Running,
  run,
  serve,
} from '../cli/holdfast-process.ts'
import type { Workplace } from '../cli/workplace.ts'
import { CutProxy } from '../support/cut-proxy.ts'
import { PostgresPair } from '../support/postgres-pair.ts'
import { StormClient } from './several-hosts-client.ts'

/** By how much the clocks of the gateways differ from the machine's. */
const clocksAheadMs = [0, -70_000, 45_000] as const
const ring = `sse-s3 ${Buffer.alloc(32, 1).toString('base64')},aws/s3 ${Buffer.alloc(32, 2).toString('base64')}`

/** The farthest store is another server, of which nothing is killed. */
const toml = (farEndpoint: string, path: (name: string) => string): string => `
defaultLocation = "copies"
reclaim.interval = "1s"
reclaim.grace = "20s"
reclaim.quarantine = "20s"
[stores.a]
type = "directory"
path = "${path('store-a')}"
[stores.b]
type = "directory"
path = "${path('store-b')}"
[stores.far]
type = "s3"
endpoint = "${farEndpoint}"
bucket = "shards"
prefix = "main"
[locations.copies]
scheme = "replica"
copies = 2
stores = ["a", "b"]
[locations.striped]
scheme = "erasure"
data = 2
parity = 1
stores = ["a", "b", "far"]
[locations.far]
scheme = "replica"
copies = 1
stores = ["far"]
`

export class Gateway {
  readonly name: string
  readonly proxies: readonly CutProxy[]
  /** Ends that nobody asked for: another member has declared it gone. */
  endedByItself = 0
  /** Clients leave it alone. */
  isShunned = false
  readonly log: string
  readonly #variables: Record<string, string>
  readonly #data: string
  #running: (Running & { endpoint: string; pid: number }) | undefined
  #isToEnd = false

  constructor(name: string, proxies: readonly CutProxy[], data: string, variables: Record<string, string>) {
    this.name = name
    this.proxies = proxies
    this.#data = data
    this.#variables = variables
    this.log = variables.HOLDFAST_LOG_FILE ?? ''
  }

  /** Absent: it is not running. */
  get endpoint(): string | undefined {
    return this.#running?.endpoint
  }

  get pid(): number {
    return this.#running?.pid ?? 0
  }

  /** Starts it, and again whenever it ends by itself, as whoever supervises processes does. */
  async start(): Promise<void> {
    this.#isToEnd = false
    const words = ['serve', '--data', this.#data, '--listen', '127.0.0.1:0']
    for (let attempt = 1; ; attempt++) {
      try {
        const running = await serve(words, this.#variables)
        this.#running = { ...running, endpoint: running.ready.endpoint, pid: running.ready.pid }
        void running.ended.then(() => this.#restart())
        return
      } catch (error) {
        if (attempt === 30) throw error
        // The database takes no writes now.
        await delay(500)
      }
    }
  }

  async #restart(): Promise<void> {
    this.#running = undefined
    if (this.#isToEnd) return
    this.endedByItself++
    await this.start()
  }

  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<Outcome | undefined> {
    const running = this.#running
    this.#isToEnd = true
    running?.child.kill(signal)
    return running?.ended
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#running?.child.kill(signal)
  }

  command(...words: string[]): Promise<Outcome> {
    return run([...words, '--data', this.#data], this.#variables).ended
  }
}

export interface ListedMember {
  pid: number
  maintainer?: number
}

export class World {
  readonly pair: PostgresPair
  readonly gateways: readonly Gateway[]
  readonly leaseMs: number
  readonly #far: Running

  private constructor(pair: PostgresPair, gateways: readonly Gateway[], far: Running, leaseMs: number) {
    this.pair = pair
    this.gateways = gateways
    this.#far = far
    this.leaseMs = leaseMs
  }

  static async open(place: Workplace, leaseMs: number): Promise<World> {
    const pair = await PostgresPair.start()
    const far = await serve(['serve', '--data', place.path('far'), '--listen', '127.0.0.1:0'])
    const client = new StormClient(() => [far.ready.endpoint], Math.random)
    await client.must({ method: 'PUT', bucket: 'shards' })
    client.close()
    for (const name of ['store-a', 'store-b']) await mkdir(place.path(name))
    const config = place.path('holdfast.toml')
    await writeFile(
      config,
      toml(far.ready.endpoint, (name) => place.path(name)),
    )
    const gateways = await Promise.all(
      clocksAheadMs.map(async (aheadMs, i) => {
        const name = `gateway-${i + 1}`
        const proxies = await Promise.all(pair.ports.map((port) => CutProxy.open(port)))
        const own = place.path(`${name}.mjs`)
        await writeFile(own, ownCircumstances(aheadMs, leaseMs))
        return new Gateway(name, proxies, place.path(name), {
          ...keyVariables,
          AWS_ACCESS_KEY_ID: environmentKey.accessKeyId,
          AWS_SECRET_ACCESS_KEY: environmentKey.secretAccessKey,
          HOLDFAST_CONFIG: config,
          HOLDFAST_KEY_RING: ring,
          HOLDFAST_LOG_FILE: place.path(`${name}.log`),
          HOLDFAST_METADATA_URL: pair.url(proxies.map(({ port }) => port)),
          NODE_OPTIONS: `--import=${pathToFileURL(own)}`,
        })
      }),
    )
    await Promise.all(gateways.map((gateway) => gateway.start()))
    return new World(pair, gateways, far, leaseMs)
  }

  /** Where clients may ask. */
  get endpoints(): string[] {
    return this.gateways.flatMap(({ endpoint, isShunned }) => (endpoint === undefined || isShunned ? [] : [endpoint]))
  }

  async members(by: Gateway): Promise<ListedMember[]> {
    const { stdout } = await by.command('members', '--json')
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  }

  /** What gateways logged that is worse than a warning. */
  async errors(): Promise<string[]> {
    const logs = await Promise.all(this.gateways.map(({ log }) => readFile(log, 'utf8').catch(() => '')))
    return logs.flatMap((log) => log.split('\n').filter((line) => /"level":(?:50|60|"error"|"fatal")/.test(line)))
  }

  async endGateways(): Promise<void> {
    await Promise.all(this.gateways.map((gateway) => gateway.end('SIGTERM')))
  }

  async close(): Promise<void> {
    await Promise.all(this.gateways.map((gateway) => gateway.end('SIGKILL')))
    await Promise.all(this.gateways.flatMap(({ proxies }) => proxies.map((proxy) => proxy.close())))
    this.#far.child.kill('SIGKILL')
    await this.#far.ended
    await this.pair.remove()
  }
}

/** Loaded before the program: its host has another time, and leases may be short, so that a test need not wait for them. */
function ownCircumstances(aheadMs: number, leaseMs: number): string {
  return `import { limits } from ${JSON.stringify(pathToFileURL(program('limits.js')).href)}
limits.memberLeaseMs = ${leaseMs}
const now = Date.now
Date.now = () => now() + ${aheadMs}
`
}
