/** Compaction of a directory moves what is encrypted as it lies; it is bound to its object, not to where it lies. */
import { expect, it } from 'vitest'
import { compactStores } from '../../src/jobs/compact.ts'
import { reclaimGarbage } from '../../src/jobs/reclaim.ts'
import { deleteObject } from '../../src/objects/delete-object.ts'
import { modeNames, putEncrypted, putInParts, readEncrypted } from '../objects/encrypted.ts'
import { put, scope } from '../objects/fixture.ts'
import { patternBytes } from '../support/seeded.ts'
import { directoryStoreWithBucket, graceMs, smallBytes } from './fixture.ts'
import { findAndRelease } from './orphans-fixture.ts'

const rounds = 10
const data = (i: number): Buffer => patternBytes(i, smallBytes)

it.each(modeNames)('moves objects and parts, which read as before: %s', async (mode) => {
  const made = await directoryStoreWithBucket()
  try {
    for (let i = 0; i < rounds; i++) {
      await putEncrypted(made.backend, { key: `object-${i}`, mode }, data(i))
      await putInParts(made.backend, { key: `parts-${i}`, mode }, [data(i + 100)])
      for (let dead = 0; dead < 6; dead++) await put(made, `dead-${i}-${dead}`, data(dead))
    }
    for (let i = 0; i < rounds; i++) {
      for (let dead = 0; dead < 6; dead++) await deleteObject(made.backend, scope, { key: `dead-${i}-${dead}` })
    }
    made.clock.advance(graceMs)
    await findAndRelease(made.backend, { graceMs })
    made.clock.advance(graceMs)
    await reclaimGarbage(made.backend, { graceMs })
    const { movedShards, removedBatches } = await compactStores(made.backend, { graceMs })
    expect(movedShards).toBeGreaterThanOrEqual(rounds)
    expect(removedBatches).toBeGreaterThanOrEqual(2)
    for (let i = 0; i < rounds; i++) {
      expect((await readEncrypted(made.backend, { key: `object-${i}`, mode })).equals(data(i))).toBe(true)
      expect((await readEncrypted(made.backend, { key: `parts-${i}`, mode })).equals(data(i + 100))).toBe(true)
    }
  } finally {
    await made.dispose()
  }
})
