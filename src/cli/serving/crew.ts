/** The worker processes of a primary: forks them, hands them connections, replaces dead ones, and drains them. */
import type { Worker } from 'node:cluster'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { LogLevel } from '../../admin/services.ts'
import type { KeyPair } from '../../http/connections/tls-front.ts'
import type { SeenRequest } from '../../http/telemetry/request-feed.ts'
import { sumTraffic, type TrafficSnapshot } from '../../http/telemetry/traffic.ts'
import type { Kv } from '../../kv/kv.ts'
import { relayCommits } from '../../kv/relay/commit-relay.ts'
import { limits } from '../../limits.ts'
import type { ProcessLoad } from '../../metrics/process-load.ts'
import type { ProcessReport } from '../../opening/admin/s3-processes.ts'
import type { Log } from '../log.ts'
import { commitPipeOf, forkWorker, type WorkersAhead } from './fork-workers.ts'
import type { KeyPairFiles } from './key-pair-files.ts'
import { primaryCommits, type ServedConfiguration } from './worker-count.ts'
import { type Renewal, readFromWorker, type ToWorker, type WorkerReport } from './worker-messages.ts'

/** The workers can't serve. The message says why. */
export class WorkerFailed extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'WorkerFailed'
  }
}

export interface CrewOptions {
  configuration: ServedConfiguration
  instanceId: string
  /** Makes the workers' commits if `primaryCommits`. */
  kv: Pick<Kv, 'commit'>
  /** Absent: plain HTTP. */
  keyPairFiles: KeyPairFiles | undefined
  log: Log
  /** Workers that wait already. They are used before new ones are made. */
  ahead: WorkersAhead
  /** See `S3PortOptions`. */
  consoleOrigins(): readonly string[]
  /** Called when a worker died of a signal that damaged metadata can cause. Resolves when workers may start again. */
  onCrash(signal: string): Promise<void>
}

/** Signals that can mean damaged metadata: LMDB maps its file, and on a damaged page it can access invalid memory, or abort. */
const crashSignals: ReadonlySet<string> = new Set(['SIGSEGV', 'SIGBUS', 'SIGABRT', 'SIGILL'])

interface Member {
  ended: Promise<void>
  /** Connections sent to the worker that it has not confirmed yet, by id. */
  sending: Map<number, Socket>
  /** Generations of identities that the worker has been told, but has not confirmed yet. */
  lessons: Set<Lesson>
  /** Reports that have been requested and have not come yet, by id. */
  traffic: TrafficSnapshot
  reports: Map<number, (report: WorkerReport | undefined) => void>
}

interface Lesson {
  generation: number
  learned(): void
}

const noTraffic: TrafficSnapshot = { operations: [], accounts: [] }

export class Crew {
  /** Rejects when workers die too fast to be worth replacing. */
  readonly failed: Promise<never>
  readonly #options: CrewOptions
  readonly #members = new Map<Worker, Member>()
  /** Workers that take connections, in the order of their turns. */
  #ready: Worker[] = []
  /** Connections that were accepted while no worker was ready. */
  #waiting: Socket[] = []
  #fail: (error: Error) => void = () => {}
  #deathTimesMs: number[] = []
  #nextId = 0
  #draining = false
  /** Callbacks of everybody who watches requests. */
  readonly #watchers = new Set<(line: SeenRequest) => void>()
  /** What ended workers had counted, as far as they had reported it. */
  #ended: TrafficSnapshot = noTraffic
  /** The level that was set at run time, kept for workers that start later. */
  #logLevel: LogLevel | undefined
  /** The latest renewal, kept for workers that start later. */
  #renewal: Renewal | undefined

  constructor(options: CrewOptions) {
    this.#options = options
    this.failed = new Promise((_, reject) => {
      this.#fail = reject
    })
    // Avoids an unhandled rejection when nothing awaits the promise.
    this.failed.catch(() => {})
  }

  /** Resolves when every worker is ready. Throws `WorkerFailed`. */
  async start(): Promise<void> {
    const started = Array.from({ length: this.#options.configuration.workers }, () => this.#fork())
    await Promise.race([Promise.all(started), this.failed])
  }

  /** Hands a connection to the worker whose turn it is. */
  give(socket: Socket): void {
    const worker = this.#ready.shift()
    const sending = worker === undefined ? undefined : this.#members.get(worker)?.sending
    if (worker === undefined || sending === undefined) {
      this.#waiting.push(socket)
      return
    }
    this.#ready.push(worker)
    const id = this.#nextId++
    sending.set(id, socket)
    const message: ToWorker = { kind: 'connection', id }
    // The primary keeps the socket open until the worker confirms it. Otherwise Node never closes it if the worker dies in between.
    worker.process.send(message, socket, { keepOpen: true }, leaveToExit)
  }

  renewTls(keyPair: KeyPair): void {
    this.#tellAll({ kind: 'renew-tls', keyPair })
  }

  renew(renewal: Renewal): void {
    this.#renewal = renewal
    this.#tellAll({ kind: 'renew', renewal })
  }

  /** Sends the current `consoleOrigins` to every worker. */
  renewConsoleOrigins(): void {
    this.#tellAll({ kind: 'console-origins', consoleOrigins: [...this.#options.consoleOrigins()] })
  }

  /** Resolves when every worker knows this generation of identities, or has ended. A worker that is not ready yet loads it with the metadata. */
  async teach(generation: number): Promise<void> {
    const lessons = [...this.#members].map(([worker, member]) => {
      return new Promise<void>((learned) => {
        member.lessons.add({ generation, learned })
        tell(worker, { kind: 'learn', generation })
      })
    })
    await Promise.all(lessons)
  }

  /** The latest requests of all workers that answer in time. */
  async recentRequests(): Promise<SeenRequest[]> {
    const all: SeenRequest[] = []
    await this.#ask((_, { recent }) => all.push(...recent))
    return all
  }

  async #ask(hear: (worker: Worker, report: WorkerReport) => void): Promise<void> {
    const asked = [...this.#members].map(([worker, { reports }]) => {
      const id = this.#nextId++
      return new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, limits.workerReportMs)
        reports.set(id, (report) => {
          clearTimeout(timer)
          reports.delete(id)
          if (report !== undefined) hear(worker, report)
          resolve()
        })
        tell(worker, { kind: 'ask-report', id })
      })
    })
    await Promise.all(asked)
  }

  /** What the workers have counted. Ended workers are included, because a sum must never fall. */
  async traffic(): Promise<ProcessReport[]> {
    const loads = new Map<Worker, ProcessLoad>()
    await this.#ask((worker, { traffic, load }) => {
      const member = this.#members.get(worker)
      if (member !== undefined) member.traffic = traffic
      loads.set(worker, load)
    })
    const living = [...this.#members].map(([worker, { traffic }]) => ({ traffic, load: loads.get(worker) }))
    return [{ traffic: this.#ended }, ...living]
  }

  /** The returned function ends the watch. */
  watchRequests(see: (line: SeenRequest) => void): () => void {
    this.#watchers.add(see)
    if (this.#watchers.size === 1) this.#tellAll({ kind: 'watch-requests', on: true })
    return () => {
      this.#watchers.delete(see)
      if (this.#watchers.size === 0) this.#tellAll({ kind: 'watch-requests', on: false })
    }
  }

  setLogLevel(level: LogLevel): void {
    this.#logLevel = level
    this.#tellAll({ kind: 'log-level', level })
  }

  #tellAll(message: ToWorker): void {
    for (const worker of this.#members.keys()) tell(worker, message)
  }

  /** Resolves when all workers have answered their requests and ended. */
  async drain(): Promise<void> {
    this.#draining = true
    for (const socket of this.#waiting.splice(0)) socket.destroy()
    this.#tellAll({ kind: 'drain' })
    await Promise.all([...this.#members.values()].map(({ ended }) => ended))
  }

  /** Resolves when the worker is ready. Rejects with the problem that it reports. */
  #fork(): Promise<void> {
    const { configuration, kv } = this.#options
    const waiting = this.#options.ahead.take()
    const worker = waiting?.worker ?? forkWorker()
    void waiting?.started.then(() => tell(worker, this.#firstOrder()))
    if (primaryCommits(configuration)) relayCommits(kv, commitPipeOf(worker))
    const ready = new Promise<void>((resolve, reject) => {
      worker.on('message', (received: unknown) => {
        const message = readFromWorker(received)
        if (message === undefined) return
        if (message.kind === 'started') {
          if (waiting === undefined) tell(worker, this.#firstOrder())
        } else if (message.kind === 'failed') reject(new WorkerFailed(message.message))
        else if (message.kind === 'took') this.#letGo(worker, message.id)
        else if (message.kind === 'report') this.#members.get(worker)?.reports.get(message.id)?.(message.report)
        else if (message.kind === 'requests') this.#saw(message.lines)
        else if (message.kind === 'knows') this.#learned(worker, message.generation)
        else {
          this.#welcome(worker)
          resolve()
        }
      })
      worker.once('exit', () => reject(new WorkerFailed('a worker ended before it was ready')))
    })
    const ended = new Promise<void>((resolve) => {
      worker.once('exit', (code, signal) => {
        this.#removeDead(worker)
        if (!this.#draining) this.#replace(worker, code, signal)
        resolve()
      })
    })
    this.#members.set(worker, { ended, sending: new Map(), lessons: new Set(), traffic: noTraffic, reports: new Map() })
    return ready
  }

  #firstOrder(): ToWorker {
    if (this.#draining) return { kind: 'drain' }
    const { configuration, instanceId, keyPairFiles, consoleOrigins } = this.#options
    const { accounts, logFile } = this.#renewal ?? configuration
    const logLevel = this.#logLevel ?? configuration.logLevel
    const now = { ...configuration, accounts: [...accounts], logFile, logLevel }
    const keyPair = keyPairFiles?.current
    return { kind: 'serve', configuration: now, instanceId, keyPair, consoleOrigins: [...consoleOrigins()] }
  }

  #saw(lines: readonly SeenRequest[]): void {
    for (const line of lines) for (const see of this.#watchers) see(line)
  }

  #welcome(worker: Worker): void {
    if (this.#watchers.size > 0) tell(worker, { kind: 'watch-requests', on: true })
    this.#ready.push(worker)
    for (const socket of this.#waiting.splice(0)) this.give(socket)
  }

  #letGo(worker: Worker, id: number): void {
    const sending = this.#members.get(worker)?.sending
    sending?.get(id)?.destroy()
    sending?.delete(id)
  }

  #learned(worker: Worker, generation: number): void {
    const lessons = this.#members.get(worker)?.lessons ?? new Set()
    for (const lesson of lessons) {
      if (lesson.generation > generation) continue
      lessons.delete(lesson)
      lesson.learned()
    }
  }

  /** Cuts the connections that a dead worker may or may not have taken, so that their clients try again and don't wait forever. */
  #removeDead(worker: Worker): void {
    for (const socket of this.#members.get(worker)?.sending.values() ?? []) socket.destroy()
    this.#learned(worker, Number.POSITIVE_INFINITY)
    for (const answer of this.#members.get(worker)?.reports.values() ?? []) answer(undefined)
    this.#ended = sumTraffic([this.#ended, this.#members.get(worker)?.traffic ?? noTraffic], new Set())
    this.#members.delete(worker)
    this.#ready = this.#ready.filter((other) => other !== worker)
  }

  #replace(worker: Worker, code: number | null, signal: string | null): void {
    const { log, configuration } = this.#options
    const nowMs = performance.now()
    this.#deathTimesMs = this.#deathTimesMs.filter((timeMs) => nowMs - timeMs < limits.workerRestartWindowMs)
    this.#deathTimesMs.push(nowMs)
    const recent = this.#deathTimesMs.length
    log.error({ worker: worker.process.pid, code, signal }, 'a worker died')
    if (recent > limits.workerRestartsMax * configuration.workers) {
      this.#fail(new WorkerFailed(`${recent} workers died within ${limits.workerRestartWindowMs / 1000} s; giving up`))
      return
    }
    void this.#forkLater(Math.min(2 ** recent * 10, limits.workerRestartDelayMsMax), signal)
  }

  async #forkLater(delayMs: number, signal: string | null): Promise<void> {
    await delay(delayMs)
    if (this.#draining) return
    try {
      if (signal !== null && crashSignals.has(signal)) await this.#options.onCrash(signal)
      await this.#fork()
    } catch (error) {
      // No retry here: the worker ends by itself, and its exit starts another.
      this.#options.log.error({ err: error }, 'a worker could not start')
    }
  }
}

function tell(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.process.send(message, undefined, {}, leaveToExit)
}

/** Ignores a failed send, because it only happens when the worker is ending. Its exit handler does the rest. */
function leaveToExit(): void {}
