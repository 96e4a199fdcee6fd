/** The requests that minio-go, and `mc` with it, send for an encrypted upload: they say with every step how it is encrypted. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { referenceChecksum } from '../support/wire-checksums.ts'
import type { Ask, Reply } from '../support/wire-client.ts'
import { contextOf, kmsHeaders, storeHeaders, type VendorHeaders } from '../support/wire-encryption.ts'
import { wireServer, wireTo } from '../support/wire-fixture.ts'
import { completeDocument, partOf, textIn } from '../support/wire-uploads.ts'

const server = wireServer()
const wire = wireTo(server)
beforeEach(() => wire.must({ method: 'PUT' }))
afterEach(() => server.empty())

const kms = { ...kmsHeaders('invoices'), 'server-side-encryption-context': contextOf({ team: 'a' }) }

const modes: readonly [name: string, sse: VendorHeaders, others: Record<string, VendorHeaders>][] = [
  ['SSE-S3', storeHeaders, { 'SSE-KMS': kmsHeaders() }],
  [
    'SSE-KMS',
    kms,
    {
      'SSE-S3': storeHeaders,
      'another key': { ...kms, ...kmsHeaders('aws/s3') },
      'another context': { ...kms, 'server-side-encryption-context': contextOf({ team: 'b' }) },
    },
  ],
]

const key = 'big'
const [first, second] = [partOf(1), Buffer.from('the rest')]

/** Each part in signed chunks with its checksum behind it. */
const sendPart = (uploadId: string, number: number, part: Buffer, sse: VendorHeaders): Ask => ({
  method: 'PUT',
  key,
  query: { partNumber: String(number), uploadId },
  vendor: sse,
  payload: {
    mode: 'signed-trailer',
    chunks: [part],
    trailers: { 'checksum-crc32c': referenceChecksum('CRC32C', part) },
  },
})
const copyPart = (uploadId: string, number: number, sse: VendorHeaders): Ask => ({
  method: 'PUT',
  key,
  query: { partNumber: String(number), uploadId },
  vendor: { ...sse, 'copy-source': 'wire/source' },
})
const complete = (uploadId: string, etags: readonly string[], sse: VendorHeaders): Ask => ({
  method: 'POST',
  key,
  query: { uploadId },
  headers: { 'Content-Type': 'application/octet-stream' },
  vendor: sse,
  body: completeDocument(etags.map((etag, i) => [i + 1, etag])),
})

describe.each(modes)('an upload under %s', (_, sse, others) => {
  let uploadId: string
  beforeEach(async () => {
    const headers = { 'Content-Type': 'application/octet-stream' }
    const begun = await wire.must({ method: 'POST', key, query: { uploads: '' }, headers, vendor: sse })
    uploadId = textIn(begun, 'UploadId')
    await wire.must({ method: 'PUT', key: 'source', body: second })
  })

  it('takes the same again with every part, every copied part and the completion', async () => {
    const sent = await wire.must(sendPart(uploadId, 1, first, sse))
    const copied = await wire.must(copyPart(uploadId, 2, sse))
    const etags = [sent.headers.get('etag') ?? '', textIn(copied, 'ETag').replaceAll('&quot;', '"')]
    await wire.must(complete(uploadId, etags, sse))
    // A completion whose answer was lost is sent again.
    await wire.must(complete(uploadId, etags, sse))
    const read = await wire.must({ method: 'GET', key })
    expect(read.body.equals(Buffer.concat([first, second]))).toBe(true)
    const method = 'server-side-encryption'
    expect(read.headers.get(`x-amz-${method}`)).toBe(sse[method])
  })

  it.each(Object.entries(others))('refuses what contradicts it: %s', async (_, other) => {
    const answered = ({ status, body }: Reply) => [status, /<Code>(\w+)</.exec(body.toString())?.[1]]
    const refused = [400, 'InvalidRequest']
    expect(answered(await wire.ask(sendPart(uploadId, 1, second, other)))).toEqual(refused)
    expect(answered(await wire.ask(copyPart(uploadId, 1, other)))).toEqual(refused)
    const etag = (await wire.must(sendPart(uploadId, 1, second, sse))).headers.get('etag') ?? ''
    expect(answered(await wire.ask(complete(uploadId, [etag], other)))).toEqual(refused)
    await wire.must(complete(uploadId, [etag], sse))
    expect(answered(await wire.ask(complete(uploadId, [etag], other)))).toEqual(refused)
  })
})

it('takes no encryption for a part of an upload that has none', async () => {
  const begun = await wire.must({ method: 'POST', key, query: { uploads: '' } })
  const reply = await wire.ask(sendPart(textIn(begun, 'UploadId'), 1, second, storeHeaders))
  expect([reply.status, textIn(reply, 'Code')]).toEqual([400, 'InvalidRequest'])
})
