/** Sends the requests that a worker serves to the primary while somebody watches. It sends several lines at a time, to keep messages few. */
import type { LocalRequests, SeenRequest } from '../../http/telemetry/request-feed.ts'
import { limits } from '../../limits.ts'

export interface RequestSender {
  watch(on: boolean): void
}

export function openRequestSender(requests: LocalRequests, send: (lines: SeenRequest[]) => void): RequestSender {
  let stop: (() => void) | undefined
  let lines: SeenRequest[] = []
  const flush = (): void => {
    send(lines)
    lines = []
  }
  return {
    watch: (on) => {
      if (on === (stop !== undefined)) return
      stop?.()
      stop = undefined
      if (!on) return
      stop = requests.watch((line) => {
        // Nobody can read thousands of lines a second, and the primary must not drown in them.
        if (lines.length === 0) setTimeout(flush, limits.requestsSentEveryMs).unref()
        if (lines.length < limits.requestsHeldMax) lines.push(line)
      })
    },
  }
}
