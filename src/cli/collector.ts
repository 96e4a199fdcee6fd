/** When V8 collects garbage in a serving process. */
import { Session } from 'node:inspector'
import { setFlagsFromString } from 'node:v8'
import { limits } from '../limits.ts'

/**
 * Node reads a body into many buffers, and V8 counts each of them against an otherwise small heap. Left alone, it marks the whole
 * heap for every 20 MB of bodies, which costs a third of an upload. With more room, its cheap collections of young objects free the buffers first.
 */
export function collectLessOften(): void {
  setFlagsFromString(`--heap-growing-percent=${limits.heapGrowingPercent}`)
}

/**
 * V8 collects when memory is asked for, so an idle process keeps the garbage of its last work and the memory around it. Therefore a process that has
 * worked and is idle collects everything once. A request that comes in these tens of milliseconds waits.
 */
export function collectWhenIdle(): void {
  const looks = new IdleLooks()
  let before = process.cpuUsage()
  setInterval(() => {
    const { user, system } = process.cpuUsage(before)
    before = process.cpuUsage()
    if (looks.look((user + system) / 1000)) collectEverything()
  }, limits.idleLookMs).unref()
}

/** Decides when to collect, by the CPU time of a process, which it is given every `limits.idleLookMs`. */
export class IdleLooks {
  #workedMs = 0
  #idleLooks = 0

  /** `cpuMs`: CPU time since the last call. */
  look(cpuMs: number): boolean {
    this.#workedMs += cpuMs
    const isIdle = cpuMs * 100 < limits.idleCpuPercent * limits.idleLookMs
    this.#idleLooks = isIdle ? this.#idleLooks + 1 : 0
    if (this.#idleLooks < limits.idleLooksMin || this.#workedMs < limits.collectAfterWorkMs) return false
    this.#workedMs = 0
    return true
  }
}

let session: Session | undefined

/** What V8 does when the machine runs out of memory: it removes all garbage and returns the memory to the system. */
export function collectEverything(done: () => void = () => {}): void {
  if (session === undefined) {
    session = new Session()
    session.connect()
  }
  session.post('HeapProfiler.collectGarbage', () => done())
}
