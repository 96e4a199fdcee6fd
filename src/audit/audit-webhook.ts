/** The audit log as posts to a URL, in order, from a bounded queue. It is a copy for other systems: the file is the durable log. */
import { setTimeout as delay } from 'node:timers/promises'
import { limits } from '../limits.ts'
import { isTaken, type JsonReceiver, postJson } from '../webhook.ts'
import type { AuditTarget } from './audit-log.ts'

export interface AuditWebhookOptions extends JsonReceiver {
  /** How many entries may wait. */
  queueMax?: number
  warn(message: string): void
}

/** Never holds up a change. While the receiver is away, entries wait. When the queue is full, the newest are dropped with a warning. */
export function auditWebhook({ queueMax = limits.auditQueueMax, warn, ...receiver }: AuditWebhookOptions): AuditTarget {
  const waiting: string[] = []
  const closing = new AbortController()
  let dropped = 0
  let sending: Promise<void> | undefined

  const sendAll = async (): Promise<void> => {
    let pauseMs: number = limits.auditRetryMsMin
    for (let line = waiting[0]; line !== undefined; line = waiting[0]) {
      if (isTaken(await postJson(receiver, line, { answerMs: limits.auditAnswerMs }))) {
        waiting.shift()
        pauseMs = limits.auditRetryMsMin
        continue
      }
      if (pauseMs === limits.auditRetryMsMin) warn('the receiver of the audit log does not take entries: they wait')
      if (closing.signal.aborted) return
      await delay(pauseMs, undefined, { ref: false, signal: closing.signal }).catch(() => {})
      pauseMs = Math.min(2 * pauseMs, limits.auditRetryMsMax)
    }
    if (dropped > 0) warn(`${dropped} entries of the audit log were dropped: the receiver was away for too long`)
    dropped = 0
  }
  return {
    ready: async () => {},
    write: async (line) => {
      if (waiting.length >= queueMax) dropped++
      else waiting.push(line)
      sending ??= sendAll().finally(() => {
        sending = undefined
      })
    },
    // Tries each waiting entry once more.
    close: async () => {
      closing.abort()
      await Promise.race([sending, delay(limits.auditAnswerMs, undefined, { ref: false })])
    },
  }
}
