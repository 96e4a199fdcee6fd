/** A second process on the metadata of two-processes.test.ts: it changes what messages name, and says what came of it. */

import { openBlobs } from '../../src/blobs/blobs.ts'
import { openLmdb } from '../../src/kv/lmdb.ts'
import { setLegalHold } from '../../src/objects/change-version.ts'
import { deleteObject } from '../../src/objects/delete-object.ts'
import { memoryShardStore } from '../../src/stores/memory.ts'
import { outcome, put, scope, storeOfBlobs, WatchedKv } from '../objects/fixture.ts'
import { seededClock, seededRandom } from '../support/seeded.ts'

export type Change =
  | { do: 'put'; key: string }
  | { do: 'delete'; key: string; versionId?: string }
  | { do: 'hold'; key: string; versionId: string }

/** `versionId`: of the version or the marker that a change made. */
export type Reply = { said: 'ready' } | { said: 'done'; code: string; versionId?: string | undefined }

const report = (reply: Reply): void => {
  process.send?.(reply)
}

const [path] = process.argv.slice(2)
if (path === undefined) throw new Error('no path given')
// The random part of a version's name differs from that of the process beside.
const clock = seededClock(seededRandom(process.pid))
const blobs = openBlobs([
  { name: 'default', version: 1, scheme: 'replica', stores: [memoryShardStore({ clock, bytesMax: Infinity })] },
])
const fail = (error: Error): never => {
  throw error
}
const kv = new WatchedKv(await openLmdb({ path, onFatal: fail }))
const made = storeOfBlobs(blobs, clock)
const backend = { ...made.backend, kv }

async function change(asked: Change): Promise<void> {
  let versionId: string | undefined
  const code = await outcome(
    (async () => {
      if (asked.do === 'put') versionId = (await put({ backend }, asked.key)).versionId
      if (asked.do === 'delete') ({ versionId } = await deleteObject(backend, scope, asked))
      if (asked.do === 'hold') await setLegalHold(backend, scope, asked, true)
    })(),
  )
  report({ said: 'done', code, versionId })
}

process.on('message', (asked: Change) => void change(asked))
report({ said: 'ready' })
