/** Makes the commits that another process of this machine sends, among those of its own. See `relayed-kv.ts` for the other end. */
import type { Duplex } from 'node:stream'
import { type Commit, type Kv, KvUnavailable } from '../kv.ts'
import { FrameSplitter, type Outcome, packOutcomes, unpackCommits } from './frames.ts'

/** Until the link closes. A commit that `kv` can't settle is never answered: the process is about to end. */
export function relayCommits(kv: Pick<Kv, 'commit'>, link: Duplex): void {
  const splitter = new FrameSplitter()
  let settled: Outcome[] = []
  const answer = (): void => {
    const outcomes = settled
    settled = []
    if (!link.destroyed) link.write(packOutcomes(outcomes))
  }
  const settle = (outcome: Outcome): void => {
    // Those of one transaction settle in the same turn of the event loop, and share a frame.
    if (settled.length === 0) setImmediate(answer)
    settled.push(outcome)
  }
  // Its close follows.
  link.on('error', () => {})
  link.on('data', (chunk: Buffer) => {
    for (const frame of splitter.split(chunk)) {
      for (const { id, commit } of unpackCommits(frame))
        void commitOne(kv, id, commit).then(settle, () => link.destroy())
    }
  })
}

async function commitOne(kv: Pick<Kv, 'commit'>, id: number, commit: Commit): Promise<Outcome> {
  try {
    return { id, kind: (await kv.commit(commit)) ? 'applied' : 'refused' }
  } catch (error) {
    if (error instanceof KvUnavailable) return { id, kind: 'unavailable', message: error.message }
    throw error
  }
}
