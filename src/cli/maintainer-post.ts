/** Takes the maintainer's post for a command over shared metadata, which has no stopped server: only the post keeps the jobs of others away. */
import { setTimeout as delay } from 'node:timers/promises'
import { limits } from '../limits.ts'
import { isServer, type ListedMember } from '../members/list-members.ts'
import type { OpenData } from '../opening/open-backend.ts'

/** Another member does what this command must do alone. */
export class MembersAtWork extends Error {
  constructor(member: ListedMember, what: string) {
    const { kind, host, pid, address } = member
    super(`${what} ${kind} ${pid} on ${host}${address === undefined ? '' : ` (${address})`}; stop it first`)
    this.name = 'MembersAtWork'
  }
}

const pollMs = 200
/** Longer than it takes to declare a dead member gone. */
const patienceMs = 3 * limits.memberLeaseMs

/** Calls `use` while no server runs on the metadata and this process holds the post. Waits for members that died. Throws `MembersAtWork`. */
export async function asOnlyMaintainer<T>(data: OpenData, use: (data: OpenData) => Promise<T>): Promise<T> {
  let backend: OpenData['backend'] | undefined
  const giveUp = data.maintain(async (maintaining) => {
    backend = maintaining.backend
    return { stop: async () => {} }
  })
  try {
    for (let waitedMs = 0; ; waitedMs += pollMs) {
      const others = await data.others()
      const living = others.find((member) => isServer(member) && member.leaseLeftMs > 0)
      if (living !== undefined) throw new MembersAtWork(living, 'the metadata is in use by')
      if (backend !== undefined && !others.some(isServer)) return await use({ ...data, backend })
      const holder = others.find(({ maintainer }) => maintainer !== undefined)
      if (holder !== undefined && waitedMs > patienceMs) throw new MembersAtWork(holder, 'jobs are run by')
      await delay(pollMs)
    }
  } finally {
    await giveUp()
  }
}
