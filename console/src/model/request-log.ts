/** The requests that the S3 port serves, live: the latest ones for the list, and sums by second for the charts. */
import { signal } from '@preact/signals'
import { watchAdmin } from '../api/admin.ts'
import type { SeenRequest } from '../api/machine.ts'

export interface Second {
  /** Seconds since the epoch. */
  at: number
  requests: number
  failed: number
  bytesIn: number
  bytesOut: number
  /** How long the slowest request took. */
  slowestMs: number
}

const linesMax = 500
const secondsMax = 120

export const lines = signal<readonly SeenRequest[]>([])
export const seconds = signal<readonly Second[]>([])
export const dropped = signal(0)
export const isLost = signal(false)

/** How far the server's clock is ahead of the browser's, by its latest request. */
let aheadMs = 0
export const serverNowMs = (): number => Date.now() + aheadMs

let viewers = 0
let stop: (() => void) | undefined

/** Watches while anybody looks. The returned function ends this. */
export function watchRequests(): () => void {
  viewers += 1
  stop ??= watchAdmin<{ requests: SeenRequest[]; dropped: number }>('/v1/requests/events', see, (lost) => {
    isLost.value = lost
  })
  return () => {
    viewers -= 1
    if (viewers > 0) return
    stop?.()
    stop = undefined
  }
}

function see({ requests, dropped: lost }: { requests: SeenRequest[]; dropped: number }): void {
  dropped.value += lost
  const latest = requests.at(-1)
  if (latest !== undefined) aheadMs = Date.parse(latest.time) - Date.now()
  lines.value = [...requests.toReversed(), ...lines.value].slice(0, linesMax)
  const changed = new Map(seconds.value.map((second) => [second.at, second]))
  for (const request of requests) {
    const at = Math.floor(Date.parse(request.time) / 1000)
    const before = changed.get(at) ?? { at, requests: 0, failed: 0, bytesIn: 0, bytesOut: 0, slowestMs: 0 }
    changed.set(at, {
      at,
      requests: before.requests + 1,
      failed: before.failed + Number(request.status === 0 || request.status >= 400),
      bytesIn: before.bytesIn + request.bytesIn,
      bytesOut: before.bytesOut + request.bytesOut,
      slowestMs: Math.max(before.slowestMs, request.durationMs),
    })
  }
  seconds.value = [...changed.values()].sort((a, b) => a.at - b.at).slice(-secondsMax)
}
