/** Proofs of what nearly every operation has: the address, and headers that are declared and absent. */
import { expect } from 'vitest'
import { workingRows } from '../table-rows.ts'
import { nothingChanged } from '../wire-asks.ts'
import type { Wire } from '../wire-client.ts'
import { ofEach, type Proof, refuses, texts, validAsk } from './proof.ts'

const bucket = ofEach(
  'request address:Bucket',
  async (wire, operation) => {
    const { ask, succeeds, open } = await validAsk(wire, operation)
    await refuses(wire, { ...ask, bucket: 'nobodys' }, 404, 'NoSuchBucket')
    await nothingChanged(wire, open)
    expect((await wire.ask(ask)).status).toBe(succeeds)
  },
  { except: ['CreateBucket'] },
)

const newBucket = ofEach('request address:Bucket', async (wire) => {
  await wire.must({ method: 'PUT', bucket: 'another' })
  expect(await texts(wire, { method: 'GET', bucket: '' }, 'ListAllMyBucketsResult/Buckets/Bucket/Name')).toEqual([
    'another',
  ])
}).filter(({ rows }) => rows.includes('CreateBucket request address:Bucket'))

const statusOf = async (wire: Wire, key: string): Promise<number> => (await wire.ask({ method: 'HEAD', key })).status

/** What becomes of the key that is addressed, where it need not be there before. */
const ofNewKeys: Readonly<Record<string, (wire: Wire) => Promise<void>>> = {
  PutObject: async (wire) => expect(await statusOf(wire, 'elsewhere')).toBe(200),
  CopyObject: async (wire) => expect(await statusOf(wire, 'elsewhere')).toBe(200),
  CreateMultipartUpload: async (wire) => {
    const keys = await texts(wire, { method: 'GET', query: { uploads: '' } }, 'ListMultipartUploadsResult/Upload/Key')
    expect(keys).toEqual(['big', 'elsewhere'])
  },
  DeleteObject: async (wire) => {
    expect(await statusOf(wire, 'a')).toBe(200)
    await wire.must({ method: 'DELETE', key: 'a' })
    expect(await statusOf(wire, 'a')).toBe(404)
  },
}

const key = ofEach('request address:Key', async (wire, operation) => {
  const { ask, succeeds, open } = await validAsk(wire, operation)
  const reply = await wire.ask({ ...ask, key: 'elsewhere' })
  const becomes = ofNewKeys[operation]
  expect(reply.status, reply.body.toString()).toBe(becomes === undefined ? 404 : succeeds)
  if (becomes !== undefined) return becomes(wire)
  await nothingChanged(wire, open)
  expect((await wire.ask(ask)).status).toBe(succeeds)
})

/** Headers and elements that S3 sends of what no bucket here has. */
const absent: Proof[] = workingRows
  .filter(({ message, absentUnless }) => message === 'answer' && absentUnless !== undefined)
  .map(({ operation, in: place, name, id }) => ({
    it: `${id} is absent`,
    rows: [id],
    run: async (wire) => {
      const { ask, succeeds } = await validAsk(wire, operation)
      const reply = await wire.ask(ask)
      expect(reply.status).toBe(succeeds)
      if (place === 'element') expect(reply.body.toString()).not.toContain(`<${name.split('/').at(-1)}`)
      else expect([...reply.headers.keys()]).not.toContain(wire.style.prefix + name)
    },
  }))

export const everywhereProofs: readonly Proof[] = [...bucket, ...newBucket, ...key, ...absent]
