/** Proofs of encryption at rest: what a write asks for is said of the object, and the key that a client holds opens it and no other does. */
import { expect } from 'vitest'
import { md5Base64 } from '../wire-checksums.ts'
import type { Ask, Reply, Wire } from '../wire-client.ts'
import { kmsKeyName } from '../wire-server.ts'
import { beginUpload, completeDocument, putPart, textIn } from '../wire-uploads.ts'
import { putVersion } from '../wire-versions.ts'
import { ofEach, type Proof, refuses, vendorOf } from './proof.ts'

type Vendor = Record<string, string>

const sse = 'server-side-encryption'
const byKms = { [sse]: 'aws:kms', [`${sse}-aws-kms-key-id`]: kmsKeyName }
const context = Buffer.from('{"for":"proof"}').toString('base64')
const otherContext = Buffer.from('{"for":"another"}').toString('base64')

const key = (fill: string, prefix = ''): Vendor => {
  const secret = Buffer.alloc(32, fill)
  return {
    [`${prefix}${sse}-customer-algorithm`]: 'AES256',
    [`${prefix}${sse}-customer-key`]: secret.toString('base64'),
    [`${prefix}${sse}-customer-key-MD5`]: md5Base64(secret),
  }
}
const mine = key('k')
const another = key('x')
const md5 = { [`${sse}-customer-key-MD5`]: mine[`${sse}-customer-key-MD5`] }
const text = 'a text to be kept secret'

/** The dialect of the interface document has a name of its own for the key of SSE-KMS. */
const said = (wire: Wire, reply: Reply, name: string): string | undefined =>
  vendorOf(wire, reply, wire.style.prefix === 'x-store-' ? name.replace('-aws-kms-', '-kms-') : name)

/** Writes `a` by an operation, whole: an upload is completed with the key that it was begun with. */
const writers: Readonly<Record<string, (wire: Wire, vendor: Vendor) => Promise<Reply>>> = {
  PutObject: (wire, vendor) => wire.ask({ method: 'PUT', key: 'a', body: text, vendor }),
  PostObject: (wire, vendor) =>
    wire.ask({ method: 'POST', form: { key: 'a', success_action_status: '200' }, body: text, vendor }),
  CopyObject: async (wire, vendor) => {
    await putVersion(wire, 'source', text)
    return wire.ask({ method: 'PUT', key: 'a', vendor: { 'copy-source': '/wire/source', ...vendor } })
  },
  CreateMultipartUpload: async (wire, vendor) => {
    const reply = await wire.ask({ method: 'POST', key: 'a', query: { uploads: '' }, vendor })
    if (reply.status === 200) await finish(wire, textIn(reply, 'UploadId'), keyOf(vendor))
    return reply
  },
}
const keyOf = (vendor: Vendor): Vendor => (`${sse}-customer-key` in vendor ? mine : {})

async function finish(wire: Wire, uploadId: string, vendor: Vendor): Promise<Reply> {
  const etag = await putPart(wire, uploadId, 1, text, vendor, 'a')
  return wire.must({ method: 'POST', key: 'a', query: { uploadId }, body: completeDocument([[1, etag]]), vendor })
}

async function write(wire: Wire, operation: string, vendor: Vendor): Promise<Reply> {
  const writer = writers[operation]
  if (writer === undefined) throw new Error(`no way to write by ${operation}`)
  return writer(wire, vendor)
}

const read = (wire: Wire, vendor: Vendor = {}): Promise<Reply> => wire.ask({ method: 'GET', key: 'a', vendor })

/** In bucket `wire`. */
const inBucket =
  (run: (wire: Wire, operation: string) => Promise<void>) =>
  async (wire: Wire, operation: string): Promise<void> => {
    await wire.must({ method: 'PUT' })
    await run(wire, operation)
  }

/** Written with `vendor`, `a` says `value` in `name`, and holds its text. */
async function isSaid(wire: Wire, operation: string, vendor: Vendor, name: string, value: string): Promise<void> {
  expect((await write(wire, operation, {})).status).toBe(200)
  expect(said(wire, await read(wire), name)).toBeUndefined()
  const written = await write(wire, operation, vendor)
  expect(written.status, written.body.toString()).toBe(200)
  const reply = await read(wire)
  expect([said(wire, reply, name), reply.body.toString()]).toEqual([value, text])
}

/** A request of each operation that may say again how an upload, which was begun with `begun`, is encrypted. */
const repeaters: Readonly<Record<string, (wire: Wire, begun: Vendor) => Promise<(vendor: Vendor) => Ask>>> = {
  UploadPart: async (wire, begun) => {
    const query = { uploadId: await beginUpload(wire, begun, 'a'), partNumber: '1' }
    return (vendor) => ({ method: 'PUT', key: 'a', query, body: text, vendor })
  },
  UploadPartCopy: async (wire, begun) => {
    await putVersion(wire, 'source', text)
    const query = { uploadId: await beginUpload(wire, begun, 'a'), partNumber: '1' }
    return (vendor) => ({ method: 'PUT', key: 'a', query, vendor: { 'copy-source': '/wire/source', ...vendor } })
  },
  CompleteMultipartUpload: async (wire, begun) => {
    const uploadId = await beginUpload(wire, begun, 'a')
    const etag = await putPart(wire, uploadId, 1, text, {}, 'a')
    return (vendor) => ({ method: 'POST', key: 'a', query: { uploadId }, body: completeDocument([[1, etag]]), vendor })
  },
}
const repeating = Object.keys(repeaters)

/** Header, what the upload was begun with, and what contradicts that in this header alone. */
const contradictions: readonly (readonly [name: string, begun: Vendor, other: Vendor])[] = [
  [sse, { [sse]: 'AES256' }, { [sse]: 'aws:kms' }],
  [`${sse}-aws-kms-key-id`, byKms, { ...byKms, [`${sse}-aws-kms-key-id`]: 'aws/s3' }],
  [
    `${sse}-bucket-key-enabled`,
    { ...byKms, [`${sse}-bucket-key-enabled`]: 'true' },
    { ...byKms, [`${sse}-bucket-key-enabled`]: 'false' },
  ],
  [`${sse}-context`, { ...byKms, [`${sse}-context`]: context }, { ...byKms, [`${sse}-context`]: otherContext }],
]

const saidAgain = contradictions.flatMap(([name, begun, other]) =>
  ofEach(
    `request vendor:${name}`,
    inBucket(async (wire, operation) => {
      const asking = await repeaters[operation]?.(wire, begun)
      if (asking === undefined) throw new Error(`no request of ${operation} that says it again`)
      await refuses(wire, asking(other), 400, 'InvalidRequest')
      await wire.must(asking(begun))
    }),
    { except: Object.keys(writers) },
  ),
)

const asked: Proof[] = [
  ...ofEach(
    `request vendor:${sse}`,
    inBucket(async (wire, operation) => {
      expect((await write(wire, operation, { [sse]: 'ROT13' })).status).toBe(400)
      await isSaid(wire, operation, { [sse]: 'AES256' }, sse, 'AES256')
    }),
    { except: repeating },
  ),
  ...ofEach(
    `request vendor:${sse}-aws-kms-key-id`,
    inBucket(async (wire, operation) => {
      const unknown = await write(wire, operation, { ...byKms, [`${sse}-aws-kms-key-id`]: 'unknown' })
      expect([unknown.status, /<Code>(.*?)</.exec(unknown.body.toString())?.[1]]).toEqual([
        400,
        'KMS.NotFoundException',
      ])
      await isSaid(wire, operation, byKms, `${sse}-aws-kms-key-id`, kmsKeyName)
    }),
    { except: repeating },
  ),
  ...ofEach(
    `request vendor:${sse}-bucket-key-enabled`,
    inBucket((wire, operation) =>
      isSaid(wire, operation, { ...byKms, [`${sse}-bucket-key-enabled`]: 'true' }, `${sse}-bucket-key-enabled`, 'true'),
    ),
    { except: repeating },
  ),
  ...ofEach(
    `request vendor:${sse}-context`,
    inBucket(async (wire, operation) => {
      expect((await write(wire, operation, { ...byKms, [`${sse}-context`]: 'e30' })).status).toBe(400)
      const reply = await write(wire, operation, { ...byKms, [`${sse}-context`]: context })
      expect(said(wire, reply, `${sse}-context`)).toBe(context)
    }),
    { except: repeating },
  ),
]

/** One request that needs the customer's key for what is there: a fresh one each time. */
const keyed: Readonly<Record<string, (wire: Wire) => Promise<(vendor: Vendor) => Ask>>> = {
  GetObject: reading('GET'),
  HeadObject: reading('HEAD'),
  GetObjectAttributes: async (wire) => {
    await write(wire, 'PutObject', mine)
    return (vendor) => ({
      method: 'GET',
      key: 'a',
      query: { attributes: '' },
      vendor: { 'object-attributes': 'ETag', ...vendor },
    })
  },
  ListParts: async (wire) => {
    const uploadId = await beginUpload(wire, mine, 'a')
    return (vendor) => ({ method: 'GET', key: 'a', query: { uploadId }, vendor })
  },
  UploadPart: async (wire) => {
    const uploadId = await beginUpload(wire, mine, 'a')
    return (vendor) => ({ method: 'PUT', key: 'a', query: { uploadId, partNumber: '1' }, body: text, vendor })
  },
  UploadPartCopy: async (wire) => {
    await putVersion(wire, 'source', text)
    const uploadId = await beginUpload(wire, mine, 'a')
    const query = { uploadId, partNumber: '1' }
    return (vendor) => ({ method: 'PUT', key: 'a', query, vendor: { 'copy-source': '/wire/source', ...vendor } })
  },
  CompleteMultipartUpload: async (wire) => {
    const uploadId = await beginUpload(wire, mine, 'a')
    const etag = await putPart(wire, uploadId, 1, text, mine, 'a')
    return (vendor) => ({ method: 'POST', key: 'a', query: { uploadId }, body: completeDocument([[1, etag]]), vendor })
  },
}

function reading(method: 'GET' | 'HEAD') {
  return async (wire: Wire) => {
    await write(wire, 'PutObject', mine)
    return (vendor: Vendor): Ask => ({ method, key: 'a', vendor })
  }
}

/** What is wrong with each of the three headers by itself; the other two are right. */
const wrong: Vendor = {
  [`${sse}-customer-algorithm`]: 'AES128',
  [`${sse}-customer-key`]: another[`${sse}-customer-key`] ?? '',
  [`${sse}-customer-key-MD5`]: another[`${sse}-customer-key-MD5`] ?? '',
}

const customerKeys = Object.keys(wrong).flatMap((name) => [
  ...ofEach(
    `request vendor:${name}`,
    inBucket(async (wire, operation) => {
      const refused = await write(wire, operation, { ...mine, [name]: wrong[name] ?? '' })
      expect(refused.status).toBe(400)
      expect((await write(wire, operation, mine)).status).toBe(200)
      expect((await read(wire)).status).toBe(400)
      expect((await read(wire, another)).status).toBe(403)
      expect((await read(wire, mine)).body.toString()).toBe(text)
    }),
    { except: Object.keys(keyed) },
  ),
  ...ofEach(
    `request vendor:${name}`,
    inBucket(async (wire, operation) => {
      const asking = await keyed[operation]?.(wire)
      if (asking === undefined) throw new Error(`no request of ${operation} with a key`)
      expect((await wire.ask(asking({ ...mine, [name]: wrong[name] ?? '' }))).status).toBe(400)
      // Right in itself, and not what it was written with.
      expect((await wire.ask(asking(another))).status).toBeGreaterThanOrEqual(400)
      await wire.must(asking(mine))
    }),
    { except: Object.keys(writers) },
  ),
  ...ofEach(`request vendor:copy-source-${name}`, async (wire, operation) => {
    await wire.must({ method: 'PUT' })
    await wire.must({ method: 'PUT', key: 'source', body: text, vendor: mine })
    const ofSource = key('k', 'copy-source-')
    const query: Record<string, string> =
      operation === 'CopyObject' ? {} : { uploadId: await beginUpload(wire, {}, 'a'), partNumber: '1' }
    const copy = (vendor: Vendor): Ask => ({
      method: 'PUT',
      key: 'a',
      query,
      vendor: { 'copy-source': '/wire/source', ...vendor },
    })
    expect((await wire.ask(copy({}))).status).toBe(400)
    expect((await wire.ask(copy({ ...ofSource, [`copy-source-${name}`]: wrong[name] ?? '' }))).status).toBe(400)
    await wire.must(copy(ofSource))
  }),
])

/** The reply of each operation that says how an object is encrypted, to a write or read of `a` with this encryption. */
async function replyOf(wire: Wire, operation: string, vendor: Vendor): Promise<Reply> {
  if (operation in writers) return write(wire, operation, vendor)
  const own = keyOf(vendor)
  if (operation === 'GetObject' || operation === 'HeadObject') {
    await write(wire, 'PutObject', vendor)
    return wire.ask({ method: operation === 'GetObject' ? 'GET' : 'HEAD', key: 'a', vendor: own })
  }
  const uploadId = await beginUpload(wire, vendor, 'a')
  if (operation === 'CompleteMultipartUpload') return finish(wire, uploadId, own)
  const query = { uploadId, partNumber: '1' }
  if (operation === 'UploadPart') return wire.ask({ method: 'PUT', key: 'a', query, body: text, vendor: own })
  await putVersion(wire, 'source', text)
  return wire.ask({ method: 'PUT', key: 'a', query, vendor: { 'copy-source': '/wire/source', ...own } })
}

const kmsWhole = { ...byKms, [`${sse}-bucket-key-enabled`]: 'true', [`${sse}-context`]: context }

/** Header, and the encryption under which it has which value. */
const answers: readonly (readonly [name: string, vendor: Vendor, value: string])[] = [
  [sse, { [sse]: 'AES256' }, 'AES256'],
  [`${sse}-aws-kms-key-id`, kmsWhole, kmsKeyName],
  [`${sse}-bucket-key-enabled`, kmsWhole, 'true'],
  [`${sse}-context`, kmsWhole, context],
  [`${sse}-customer-algorithm`, mine, 'AES256'],
  [`${sse}-customer-key-MD5`, mine, md5[`${sse}-customer-key-MD5`] ?? ''],
]

const answered = answers.flatMap(([name, vendor, value]) =>
  ofEach(
    `answer vendor:${name}`,
    inBucket(async (wire, operation) => {
      const reply = await replyOf(wire, operation, vendor)
      expect(reply.status, reply.body.toString()).toBe(200)
      expect(said(wire, reply, name)).toBe(value)
    }),
  ),
)

export const encryptionProofs: readonly Proof[] = [...asked, ...saidAgain, ...customerKeys, ...answered]
