/** The load generator as the bench sees it: a process of its own that takes one order at a time. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Order, Reply, RunResult } from './order.ts'

export interface Generator {
  /** Rejects when a request failed. */
  run(order: Order): Promise<RunResult>
  close(): Promise<void>
}

export function startGenerator(): Generator {
  const child = fork(new URL('./process.js', import.meta.url))
  const ended = once(child, 'exit')
  return {
    run: async (order) => {
      const answered = once(child, 'message')
      child.send(order)
      const first = await Promise.race([answered.then(([reply]): Reply => reply), ended.then(() => undefined)])
      if (first === undefined) throw new Error('the load generator ended')
      if ('error' in first) throw new Error(`${order.workload.title}: ${first.error}`)
      return first.result
    },
    close: async () => {
      if (child.connected) child.disconnect()
      await ended
    },
  }
}
