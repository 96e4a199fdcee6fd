/** When V8 collects garbage in a process that serves. */
import { Session } from 'node:inspector'
import { setFlagsFromString } from 'node:v8'
import { limits } from '../limits.ts'

/**
 * Every piece of a body that node reads is a buffer of its own, and V8 counts it against a heap that is small otherwise: left alone, it marks all of the
 * heap every 20 MB of bodies, for a third of what an upload costs. With more room its cheap collections of young objects free the buffers first.
 */
export function collectLessOften(): void {
  setFlagsFromString(`--heap-growing-percent=${limits.heapGrowingPercent}`)
}

/**
 * V8 collects when memory is asked for: an idle process keeps what its last work left, and the room that this work took. So when the process has
 * worked and is idle, all is collected once. Whoever comes in these tens of milliseconds waits.
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

/** Tells from looks at the CPU time of a process, every `limits.idleLookMs`, when to collect. */
export class IdleLooks {
  #workedMs = 0
  #idleLooks = 0

  /** `cpuMs`: since the last look. */
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

/** As V8 does when the machine runs out of memory: all garbage goes, and with it the room that it was made in. */
export function collectEverything(done: () => void = () => {}): void {
  if (session === undefined) {
    session = new Session()
    session.connect()
  }
  session.post('HeapProfiler.collectGarbage', () => done())
}
