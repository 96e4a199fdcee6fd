/** Expiry of uploads: the abandoned end, the completed are forgotten, and neither before its time. */
import { describe, expect, it } from 'vitest'
import { expireUploads } from '../../src/jobs/expire-uploads.ts'
import { reclaimGarbage } from '../../src/jobs/reclaim.ts'
import { listUploads } from '../../src/objects/uploads.ts'
import {
  begin,
  complete,
  outcome,
  read,
  scope,
  sendPart,
  shardsOf,
  storeWithBucket,
  type TestStore,
} from '../objects/fixture.ts'
import { graceMs, leftOver } from './fixture.ts'

const abandonedUploadMs = 7 * 24 * 60 * 60 * 1000
const expire = ({ backend }: TestStore) => expireUploads(backend, { abandonedUploadMs })

async function openKeys({ backend }: TestStore): Promise<string[]> {
  const query = { prefix: '', delimiter: '', max: 1000, keyMarker: undefined, uploadIdMarker: undefined }
  return (await listUploads(backend, scope, query)).page.entries.map(({ key }) => key)
}

describe('expiry', () => {
  it('ends an open upload at its age, not sooner, and gives up its parts', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'old')
    await sendPart(made, upload, 1, 'data')
    made.clock.advance(abandonedUploadMs - 1)
    await begin(made, 'young')
    expect(await expire(made)).toBe(0)
    made.clock.advance(1)
    expect(await expire(made)).toBe(1)
    expect(await openKeys(made)).toEqual(['young'])
    expect(await outcome(sendPart(made, upload, 2, 'late'))).toBe('NoSuchUpload')
    made.clock.advance(graceMs)
    expect(await reclaimGarbage(made.backend, { graceMs })).toBe(1)
    expect(await shardsOf(made)).toEqual([])
  })

  it('reads no more than the old ones, and takes any number of them', async () => {
    const made = await storeWithBucket()
    for (let i = 0; i < 600; i++) await begin(made, `old-${i}`)
    made.clock.advance(abandonedUploadMs)
    for (let i = 0; i < 600; i++) await begin(made, `young-${i}`)
    made.kv.entriesRead = 0
    expect(await expire(made)).toBe(600)
    expect(made.kv.entriesRead).toBeLessThan(600 + 256)
    expect(await openKeys(made)).toHaveLength(600)
    expect(await expire(made)).toBe(0)
  })

  it('keeps the result of a Complete as long as an upload lives, and then forgets it but not the object', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    const part = await sendPart(made, upload, 1, 'data')
    made.clock.advance(abandonedUploadMs - 1)
    const result = await complete(made, upload, [part])
    made.clock.advance(abandonedUploadMs - 1)
    expect(await expire(made)).toBe(0)
    expect(await complete(made, upload, [part])).toEqual(result)
    made.clock.advance(1)
    expect(await expire(made)).toBe(0)
    expect(await outcome(complete(made, upload, [part]))).toBe('NoSuchUpload')
    expect(await leftOver(made)).toEqual({ garbage: 0, uploads: 0 })
    expect((await read(made, 'key')).toString()).toBe('data')
  })

  it.each([
    ['ahead', 2 * abandonedUploadMs],
    ['back', -2 * abandonedUploadMs],
  ])('comes no sooner when the clock of the machine is set %s by mistake', async (_, stepMs) => {
    const made = await storeWithBucket()
    const before = await begin(made, 'before')
    expect(await expire(made)).toBe(0)
    made.clock.set(stepMs)
    const after = await begin(made, 'after')
    expect(await expire(made)).toBe(0)
    for (const upload of [before, after]) await complete(made, upload, [await sendPart(made, upload, 1, 'data')])
  })

  it('loses to a Complete that comes first', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    const part = await sendPart(made, upload, 1, 'data')
    made.clock.advance(abandonedUploadMs)
    made.kv.beforeNextCommit(() => complete(made, upload, [part]))
    expect(await expire(made)).toBe(0)
    made.clock.advance(graceMs)
    await reclaimGarbage(made.backend, { graceMs })
    expect((await read(made, 'key')).toString()).toBe('data')
  })
})
