/** A process of its own that is a member of shared metadata, for stopped-processes.test.ts. It commits all the time, also as the maintainer, and says what was acknowledged. */

import { setImmediate as turn } from 'node:timers/promises'
import { systemClock } from '../../src/clock.ts'
import { known } from '../../src/known.ts'
import type { Kv } from '../../src/kv/kv.ts'
import { joinMembers } from '../../src/members/join-members.ts'
import { put } from '../kv/text-entries.ts'
import { openedPostgres } from '../support/postgres-engine.ts'

export type Report = { said: 'acknowledged'; key: string } | { said: 'fatal'; reason: string }

const leaseMs = 600

function report(message: Report): void {
  process.send?.(message)
}

/** Commits again and again, whatever happens to one commit. */
async function commitOn(kv: Kv, as: string): Promise<void> {
  for (let i = 0; ; i++) {
    const key = `${process.pid}/${as}/${i}`
    const applied = await kv.commit({ puts: [put(key)] }).catch(() => false)
    if (applied) report({ said: 'acknowledged', key })
    // A commit that is refused before it is sent rejects at once, and timers must run.
    await turn()
  }
}

const kv = await openedPostgres({ url: known(process.argv[2]), connections: 4 })
const membership = await joinMembers(kv, {
  kind: 'server',
  host: 'host',
  pid: process.pid,
  clock: systemClock,
  onFatal: (error) => {
    report({ said: 'fatal', reason: error.message })
    // Continues for a moment, as a server whose process takes time to end.
    setTimeout(() => process.exit(70), leaseMs)
  },
  warn: () => {},
  leaseMs,
})
membership.maintain(async (post) => {
  void commitOn(post.kv, `maintainer ${post.number}`)
  return { stop: async () => {} }
})
void commitOn(membership.kv, 'member')
