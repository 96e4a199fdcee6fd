/** Proofs of what a write says beside its bytes: PutObject, CopyObject and CreateMultipartUpload, whose object is read when it is there. */
import { expect } from 'vitest'
import { md5Base64, md5Hex } from '../wire-checksums.ts'
import { type Ask, type Reply, signAsk, type Wire } from '../wire-client.ts'
import { requestBytes, sendRaw } from '../wire-raw.ts'
import { beginUpload, completeDocument, putPart, textIn } from '../wire-uploads.ts'
import { hoursFromNow, putVersion, vault } from '../wire-versions.ts'
import { effect, ofEach, type Proof, refuses, texts, vendorOf } from './proof.ts'

const writtenText = 'written'

/** Writes object `a` by an operation, in bucket `wire`, and answers the first reply. Sources of copies have nothing that the request could be taken for. */
type Write = (wire: Wire, more: Partial<Ask>) => Promise<Reply>

const send = (wire: Wire, ask: Ask, more: Partial<Ask>): Promise<Reply> =>
  wire.ask({
    ...ask,
    ...more,
    headers: { ...ask.headers, ...more.headers },
    vendor: { ...ask.vendor, ...more.vendor },
  })

const writes: Readonly<Record<string, Write>> = {
  PutObject: (wire, more) =>
    send(
      wire,
      { method: 'PUT', key: 'a', body: writtenText, headers: { 'Content-MD5': md5Base64(writtenText) } },
      more,
    ),
  // A form is answered without a document unless it asks for one.
  PostObject: async (wire, more) => {
    const digest = { 'Content-MD5': md5Base64(writtenText) }
    const form = { key: 'a', success_action_status: '200' }
    return send(wire, { method: 'POST', form, body: writtenText, headers: digest }, more)
  },
  CopyObject: async (wire, more) => {
    await putVersion(wire, 'source', writtenText)
    const vendor = { 'copy-source': '/wire/source', 'metadata-directive': 'REPLACE', 'tagging-directive': 'REPLACE' }
    return send(wire, { method: 'PUT', key: 'a', vendor }, more)
  },
  CreateMultipartUpload: async (wire, more) => {
    const reply = await send(wire, { method: 'POST', key: 'a', query: { uploads: '' } }, more)
    if (reply.status !== 200) return reply
    const uploadId = textIn(reply, 'UploadId')
    const etag = await putPart(wire, uploadId, 1, writtenText, {}, 'a')
    await wire.must({ method: 'POST', key: 'a', query: { uploadId }, body: completeDocument([[1, etag]]) })
    return reply
  },
}

export const writing = (operation: string): Write => {
  const write = writes[operation]
  if (write === undefined) throw new Error(`no way to write by ${operation}`)
  return write
}

/** Writes `a` and reads its headers. */
async function written(wire: Wire, operation: string, more: Partial<Ask>): Promise<Reply> {
  const reply = await writing(operation)(wire, more)
  expect(reply.status, reply.body.toString()).toBe(200)
  return wire.must({ method: 'HEAD', key: 'a' })
}

/** The same for each operation that writes and has the row, in bucket `wire`. */
export function ofWrites(what: string, run: (wire: Wire, operation: string) => Promise<void>): Proof[] {
  return ofEach(
    what,
    async (wire, operation) => {
      await wire.must({ method: 'PUT' })
      await run(wire, operation)
    },
    { except: ['CreateBucket', 'PutBucketAcl', 'PutObjectAcl'] },
  )
}

const descriptions = {
  'Content-Type': 'text/x-proof',
  'Content-Encoding': 'identity',
  'Content-Language': 'en-GB',
  'Content-Disposition': 'inline; filename="a"',
  'Cache-Control': 'max-age=61',
  Expires: 'Thu, 01 Dec 2033 16:00:00 GMT',
} as const

const described = Object.entries(descriptions).flatMap(([name, value]) =>
  ofWrites(`request header:${name}`, async (wire, operation) => {
    const without = await written(wire, operation, {})
    expect(without.headers.get(name.toLowerCase())).not.toBe(value)
    const { headers } = await written(wire, operation, { headers: { [name]: value } })
    expect(headers.get(name.toLowerCase())).toBe(value)
  }),
)

const metadata = ofWrites('request vendor-prefix:meta-', async (wire, operation) => {
  const reply = await written(wire, operation, { vendor: { 'meta-colour': 'red', 'meta-size': 'big' } })
  expect([vendorOf(wire, reply, 'meta-colour'), vendorOf(wire, reply, 'meta-size')]).toEqual(['red', 'big'])
})

const tagging = ofWrites('request vendor:tagging', async (wire, operation) => {
  await written(wire, operation, { vendor: { tagging: 'a=1&b=%202' } })
  const ask: Ask = { method: 'GET', key: 'a', query: { tagging: '' } }
  expect(await texts(wire, ask, 'Tagging/TagSet/Tag/Key')).toEqual(['a', 'b'])
  expect(await texts(wire, ask, 'Tagging/TagSet/Tag/Value')).toEqual(['1', ' 2'])
})

const acl = ofWrites('request vendor:acl', async (wire, operation) => {
  for (const canned of ['private', 'bucket-owner-full-control'])
    await written(wire, operation, { vendor: { acl: canned } })
  const reply = await writing(operation)(wire, { vendor: { acl: 'public-read' } })
  expect([reply.status, textIn(reply, 'Code')]).toEqual([400, 'AccessControlListNotSupported'])
})

const storageClass = ofWrites('request vendor:storage-class', async (wire, operation) => {
  const reply = await writing(operation)(wire, { vendor: { 'storage-class': 'COLDEST' } })
  expect([reply.status, textIn(reply, 'Code')]).toEqual([400, 'InvalidStorageClass'])
  await written(wire, operation, { vendor: { 'storage-class': 'STANDARD' } })
  const classes = await texts(wire, { method: 'GET', query: { prefix: 'a' } }, 'ListBucketResult/Contents/StorageClass')
  expect(classes).toEqual(['STANDARD'])
})

const redirect = ofWrites('request vendor:website-redirect-location', async (wire, operation) => {
  const reply = await writing(operation)(wire, { vendor: { 'website-redirect-location': 'b' } })
  expect([reply.status, textIn(reply, 'Code')]).toEqual([400, 'InvalidRedirectLocation'])
  const read = await written(wire, operation, { vendor: { 'website-redirect-location': '/b' } })
  expect(vendorOf(wire, read, 'website-redirect-location')).toBe('/b')
})

const lockNames = ['object-lock-mode', 'object-lock-retain-until-date', 'object-lock-legal-hold'] as const

const locks = lockNames.flatMap((name) =>
  ofWrites(`request vendor:${name}`, async (wire, operation) => {
    await vault(wire)
    const retention = { 'object-lock-mode': 'COMPLIANCE', 'object-lock-retain-until-date': hoursFromNow(31) }
    const vendor: Record<string, string> = name === 'object-lock-legal-hold' ? { [name]: 'ON' } : retention
    const reply = await written(wire, operation, { vendor })
    for (const other of lockNames) expect(vendorOf(wire, reply, other), other).toBe(vendor[other])
  }),
)

const textOrNone = async (wire: Wire): Promise<string> => {
  const reply = await wire.ask({ method: 'GET', key: 'a' })
  return reply.status === 404 ? '' : reply.body.toString()
}

/** The announced length is what is waited for, and what is stored. */
async function takesWhatIsAnnounced(
  wire: Wire,
  ask: Ask,
  storedText: () => Promise<string>,
  succeeds = 200,
): Promise<void> {
  const bytes = requestBytes(signAsk(ask, wire.port, wire.style))
  const short = await sendRaw(wire.port, bytes.subarray(0, -1), { ends: true })
  expect([short.status, short.code]).toEqual([400, 'IncompleteBody'])
  expect(await storedText()).not.toBe(writtenText)
  expect((await sendRaw(wire.port, bytes)).status).toBe(succeeds)
  expect(await storedText()).toBe(writtenText)
}

const bodyRows = ['request data:body', 'request header:Content-Length']
const bodies: Proof[] = [
  effect('PutObject', bodyRows, (wire) =>
    takesWhatIsAnnounced(wire, { method: 'PUT', key: 'a', body: writtenText }, () => textOrNone(wire)),
  ),
  effect('PostObject', bodyRows, (wire) =>
    takesWhatIsAnnounced(wire, { method: 'POST', form: { key: 'a' }, body: writtenText }, () => textOrNone(wire), 204),
  ),
  effect('UploadPart', bodyRows, async (wire) => {
    const uploadId = await beginUpload(wire, {}, 'a')
    const part: Ask = { method: 'PUT', key: 'a', query: { uploadId, partNumber: '1' }, body: writtenText }
    const body = completeDocument([[1, `"${md5Hex(writtenText)}"`]])
    await takesWhatIsAnnounced(wire, part, async () => {
      await wire.ask({ method: 'POST', key: 'a', query: { uploadId }, body })
      return textOrNone(wire)
    })
  }),
]

/** By operation: a request that writes `a`, repeatable. */
async function conditional(wire: Wire, operation: string): Promise<Ask> {
  if (operation === 'DeleteObject') return { method: 'DELETE', key: 'a' }
  if (operation === 'PutObject') return { method: 'PUT', key: 'a', body: 'new' }
  if (operation === 'PostObject') return { method: 'POST', form: { key: 'a' }, body: 'new' }
  if (operation === 'CopyObject') {
    await putVersion(wire, 'source', 'new')
    return { method: 'PUT', key: 'a', vendor: { 'copy-source': '/wire/source' } }
  }
  const uploadId = await beginUpload(wire, {}, 'a')
  const etag = await putPart(wire, uploadId, 1, 'new', {}, 'a')
  return { method: 'POST', key: 'a', query: { uploadId }, body: completeDocument([[1, etag]]) }
}

const reads = ['GetObject', 'HeadObject']
/** What a write is refused on one state of `a` and done on the other. */
const conditions: Proof[] = [
  ...ofEach(
    'request header:If-Match',
    async (wire, operation) => {
      await wire.must({ method: 'PUT' })
      await putVersion(wire, 'a', 'old')
      const ask = await conditional(wire, operation)
      await refuses(wire, { ...ask, headers: { 'If-Match': `"${md5Hex('other')}"` } }, 412, 'PreconditionFailed')
      expect(await textOrNone(wire)).toBe('old')
      await wire.must({ ...ask, headers: { 'If-Match': `"${md5Hex('old')}"` } })
      expect(await textOrNone(wire)).toBe(operation === 'DeleteObject' ? '' : 'new')
    },
    { except: reads },
  ),
  ...ofEach(
    'request header:If-None-Match',
    async (wire, operation) => {
      await wire.must({ method: 'PUT' })
      await putVersion(wire, 'a', 'old')
      const ask = await conditional(wire, operation)
      await refuses(wire, { ...ask, headers: { 'If-None-Match': '*' } }, 412, 'PreconditionFailed')
      expect(await textOrNone(wire)).toBe('old')
      await wire.must({ method: 'DELETE', key: 'a' })
      await wire.must({ ...ask, headers: { 'If-None-Match': '*' } })
      expect(await textOrNone(wire)).toBe('new')
    },
    { except: reads },
  ),
]

export const writeProofs: readonly Proof[] = [
  ...described,
  ...metadata,
  ...tagging,
  ...acl,
  ...storageClass,
  ...redirect,
  ...locks,
  ...bodies,
  ...conditions,
]
