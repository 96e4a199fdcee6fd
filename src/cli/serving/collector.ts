/** When V8 collects garbage in a serving process. */
import { Session } from 'node:inspector'
import { setFlagsFromString } from 'node:v8'
import { limits } from '../../limits.ts'

/**
 * Gives young objects more room. Node reads a body into many buffers, and V8 counts each of them against an otherwise small heap. By default, V8 marks
 * the whole heap for every 20 MB of bodies, which costs a third of an upload. With more room, cheap collections of young objects free the buffers first.
 */
export function collectLessOften(): void {
  setFlagsFromString(`--heap-growing-percent=${limits.heapGrowingPercent}`)
}

/**
 * Collects everything once after a process has started or worked, and become idle. V8 itself collects only on allocation, so an idle process would keep the garbage
 * of its start or its last work, and the memory around it. A request that comes during these tens of milliseconds waits.
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

/** Decides when to collect. Call `look` with the process's CPU time every `limits.idleLookMs`. */
export class IdleLooks {
  // The start leaves as much garbage as work does. A primary would never get rid of it, because it does next to no work.
  #workedMs: number = limits.collectAfterWorkMs
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

/** Makes V8 act as if the machine ran out of memory: it removes all garbage and returns the memory to the system. */
export function collectEverything(done: () => void = () => {}): void {
  if (session === undefined) {
    session = new Session()
    session.connect()
  }
  session.post('HeapProfiler.collectGarbage', () => done())
}
