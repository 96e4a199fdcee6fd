/** The latest requests of a process, and a way to watch them live. A request costs one write into a ring. */
import { limits } from '../../limits.ts'
import { isoTime } from '../../time-text.ts'
import type { RequestLog } from './request-log.ts'

/** A served request, as operators see it: plain data that can be sent to another process. */
export interface SeenRequest extends Omit<RequestLog, 'error'> {
  /** When its answer was sent. ISO 8601. */
  time: string
}

export class LocalRequests {
  readonly #lines: RequestLog[] = []
  readonly #timesMs = new Float64Array(limits.requestsRemembered)
  #next = 0
  readonly #watchers = new Set<(line: SeenRequest) => void>()
  readonly #nowMs: () => number

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  saw(line: RequestLog): void {
    this.#lines[this.#next] = line
    this.#timesMs[this.#next] = this.#nowMs()
    this.#next = (this.#next + 1) % limits.requestsRemembered
    if (this.#watchers.size > 0) for (const see of this.#watchers) see(seen(line, this.#nowMs()))
  }

  /** The newest first. */
  recent(): SeenRequest[] {
    const newest = (this.#next + limits.requestsRemembered - 1) % limits.requestsRemembered
    return Array.from({ length: this.#lines.length }, (_, back) => {
      const at = (newest - back + limits.requestsRemembered) % limits.requestsRemembered
      const line = this.#lines[at]
      return line === undefined ? [] : [seen(line, this.#timesMs[at] ?? 0)]
    }).flat()
  }

  /** The returned function ends the watch. */
  watch(see: (line: SeenRequest) => void): () => void {
    this.#watchers.add(see)
    return () => void this.#watchers.delete(see)
  }
}

/** The stack of an unexpected error goes only into the log. */
function seen({ error: _, ...line }: RequestLog, timeMs: number): SeenRequest {
  return { ...line, time: isoTime(timeMs) }
}
