/** Every route x how it is signed: no path to an operation goes around the signature or the bucket's owner, and no answer tells an outsider anything. */
import { Agent } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { operations } from '../../src/operations/table.ts'
import type { SignedRequest } from '../support/signer.ts'
import { md5Base64 } from '../support/wire-checksums.ts'
import {
  type Ask,
  exchange,
  openWire,
  type Reply,
  type Style,
  signAsk,
  styleName,
  styles,
  type Wire,
} from '../support/wire-client.ts'
import { mainKey, otherKey, startWireServer, type WireServer } from '../support/wire-server.ts'
import { completeDocument, uploadOf } from '../support/wire-uploads.ts'

const tagging = '<Tagging><TagSet/></Tagging>'
const versioning = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>'
const lock = '<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled></ObjectLockConfiguration>'
const hold = '<LegalHold><Status>OFF</Status></LegalHold>'
const lockedUntil = '2099-01-01T00:00:00.000Z'
const retention = `<Retention><Mode>GOVERNANCE</Mode><RetainUntilDate>${lockedUntil}</RetainUntilDate></Retention>`
/** With the digest that Object Lock asks for. */
const sent = (body: string) => ({ headers: { 'Content-MD5': md5Base64(body) }, body })
const held = { bucket: 'locked', key: 'held' } as const
const listed = '<Delete><Object><Key>a</Key></Object></Delete>'

/** One request of each implemented operation on what is there: bucket `wire`, object `a`, an open upload of `big`. Refused operations make their own. */
function asks(uploadId: string, etag: string): Record<string, Ask & { succeeds: number }> {
  const part = { partNumber: '2', uploadId }
  return {
    ListBuckets: { method: 'GET', bucket: '', succeeds: 200 },
    CreateBucket: { method: 'PUT', bucket: 'another', succeeds: 200 },
    HeadBucket: { method: 'HEAD', succeeds: 200 },
    DeleteBucket: { method: 'DELETE', bucket: 'empty', succeeds: 204 },
    GetBucketLocation: { method: 'GET', query: { location: '' }, succeeds: 200 },
    PutBucketTagging: { method: 'PUT', query: { tagging: '' }, body: tagging, succeeds: 200 },
    GetBucketTagging: { method: 'GET', query: { tagging: '' }, succeeds: 200 },
    DeleteBucketTagging: { method: 'DELETE', query: { tagging: '' }, succeeds: 204 },
    PutObject: { method: 'PUT', key: 'a', body: 'new', succeeds: 200 },
    GetObject: { method: 'GET', key: 'a', succeeds: 200 },
    HeadObject: { method: 'HEAD', key: 'a', succeeds: 200 },
    CopyObject: { method: 'PUT', key: 'a', vendor: { 'copy-source': '/wire/b' }, succeeds: 200 },
    DeleteObject: { method: 'DELETE', key: 'a', succeeds: 204 },
    DeleteObjects: {
      method: 'POST',
      query: { delete: '' },
      headers: { 'Content-MD5': md5Base64(listed) },
      body: listed,
      succeeds: 200,
    },
    PutObjectTagging: { method: 'PUT', key: 'a', query: { tagging: '' }, body: tagging, succeeds: 200 },
    GetObjectTagging: { method: 'GET', key: 'a', query: { tagging: '' }, succeeds: 200 },
    DeleteObjectTagging: { method: 'DELETE', key: 'a', query: { tagging: '' }, succeeds: 204 },
    PutBucketVersioning: { method: 'PUT', query: { versioning: '' }, body: versioning, succeeds: 200 },
    GetBucketVersioning: { method: 'GET', query: { versioning: '' }, succeeds: 200 },
    PutObjectLockConfiguration: {
      method: 'PUT',
      bucket: 'locked',
      query: { 'object-lock': '' },
      ...sent(lock),
      succeeds: 200,
    },
    GetObjectLockConfiguration: { method: 'GET', bucket: 'locked', query: { 'object-lock': '' }, succeeds: 200 },
    PutObjectLegalHold: { method: 'PUT', ...held, query: { 'legal-hold': '' }, ...sent(hold), succeeds: 200 },
    GetObjectLegalHold: { method: 'GET', ...held, query: { 'legal-hold': '' }, succeeds: 200 },
    PutObjectRetention: { method: 'PUT', ...held, query: { retention: '' }, ...sent(retention), succeeds: 200 },
    GetObjectRetention: { method: 'GET', ...held, query: { retention: '' }, succeeds: 200 },
    ListObjectVersions: { method: 'GET', query: { versions: '' }, succeeds: 200 },
    ListObjects: { method: 'GET', succeeds: 200 },
    ListObjectsV2: { method: 'GET', query: { 'list-type': '2' }, succeeds: 200 },
    CreateMultipartUpload: { method: 'POST', key: 'a', query: { uploads: '' }, succeeds: 200 },
    UploadPart: { method: 'PUT', key: 'big', query: part, body: 'x', succeeds: 200 },
    UploadPartCopy: { method: 'PUT', key: 'big', query: part, vendor: { 'copy-source': '/wire/a' }, succeeds: 200 },
    CompleteMultipartUpload: {
      method: 'POST',
      key: 'big',
      query: { uploadId },
      body: completeDocument([[1, etag]]),
      succeeds: 200,
    },
    AbortMultipartUpload: { method: 'DELETE', key: 'big', query: { uploadId }, succeeds: 204 },
    ListParts: { method: 'GET', key: 'big', query: { uploadId }, succeeds: 200 },
    ListMultipartUploads: { method: 'GET', query: { uploads: '' }, succeeds: 200 },
  }
}

/** By name, for what `asks` lacks. */
const refused = new Map(
  operations.flatMap(({ name, method, target, query, implemented }): [string, Ask & { succeeds: number }][] =>
    implemented
      ? []
      : [
          [
            name,
            {
              method,
              ...(target === 'object' ? { key: 'a' } : {}),
              query: Object.fromEntries(query.map((text) => [text, ''])),
              succeeds: 501,
            },
          ],
        ],
  ),
)

interface Way {
  how: string
  /** What it must be answered with, whatever is asked. */
  code: string
  sign(ask: Ask, port: number, style: Style): SignedRequest
}

const hour = 3_600_000
const wrongSecret = { ...mainKey, secretAccessKey: `${mainKey.secretAccessKey}!` }
const unknownKey = { ...mainKey, accessKeyId: 'AKNOBODY' }

/** Ways that must fail before anything else is looked at. */
const outsiders: readonly Way[] = [
  { how: 'not at all', code: 'AccessDenied', sign: (...request) => unsigned(signAsk(...request)) },
  {
    how: 'with a wrong secret',
    code: 'SignatureDoesNotMatch',
    sign: (ask, ...rest) => signAsk({ ...ask, signedBy: wrongSecret }, ...rest),
  },
  {
    how: 'with an unknown key',
    code: 'InvalidAccessKeyId',
    sign: (ask, ...rest) => signAsk({ ...ask, signedBy: unknownKey }, ...rest),
  },
  {
    how: 'an hour ago',
    code: 'RequestTimeTooSkewed',
    sign: (ask, ...rest) => signAsk({ ...ask, signedAtMs: Date.now() - hour }, ...rest),
  },
  {
    how: 'in an hour',
    code: 'RequestTimeTooSkewed',
    sign: (ask, ...rest) => signAsk({ ...ask, signedAtMs: Date.now() + hour }, ...rest),
  },
  { how: 'for another path', code: 'SignatureDoesNotMatch', sign: (...request) => elsewhere(signAsk(...request)) },
  {
    how: 'without a vendor header that was added',
    code: 'AccessDenied',
    sign: (ask, port, style) => withHeader(signAsk(ask, port, style), `${style.prefix}meta-added`, 'x'),
  },
  {
    how: 'by a URL with a wrong secret',
    code: 'SignatureDoesNotMatch',
    sign: (ask, ...rest) => signAsk({ ...ask, presigned: true, signedBy: wrongSecret }, ...rest),
  },
  {
    how: 'by a URL with an unknown key',
    code: 'InvalidAccessKeyId',
    sign: (ask, ...rest) => signAsk({ ...ask, presigned: true, signedBy: unknownKey }, ...rest),
  },
  {
    how: 'by a URL that has expired',
    code: 'AccessDenied',
    sign: (ask, ...rest) =>
      signAsk({ ...ask, presigned: true, signedAtMs: Date.now() - hour, expiresSeconds: 60 }, ...rest),
  },
  {
    how: 'by a URL that is not valid yet',
    code: 'AccessDenied',
    sign: (ask, ...rest) => signAsk({ ...ask, presigned: true, signedAtMs: Date.now() + hour }, ...rest),
  },
  {
    how: 'by a URL for another path',
    code: 'SignatureDoesNotMatch',
    sign: (ask, ...rest) => elsewhere(signAsk({ ...ask, presigned: true }, ...rest)),
  },
  {
    how: 'by a URL with a vendor header that was added',
    code: 'AccessDenied',
    sign: (ask, port, style) =>
      withHeader(signAsk({ ...ask, presigned: true }, port, style), `${style.prefix}copy-source`, '/wire/b'),
  },
]

function unsigned(request: SignedRequest): SignedRequest {
  return { ...request, headers: request.headers.filter(([name]) => name !== 'Authorization') }
}

/** The signature stays, and what it is for changes. */
function elsewhere(request: SignedRequest): SignedRequest {
  return { ...request, target: request.target.replace(/^(\/[^?]*)/, '$1x') }
}

function withHeader(request: SignedRequest, name: string, value: string): SignedRequest {
  return { ...request, headers: [...request.headers, [name, value]] }
}

/** Each asks for something that would be answered with 304, 404 or 412 if it were looked at. */
const temptations: readonly [what: string, change: (ask: Ask) => Ask][] = [
  ['as it is', (ask) => ask],
  ['where there is no bucket', (ask) => (ask.bucket === '' ? ask : { ...ask, bucket: 'nowhere' })],
  ['where there is no key', (ask) => (ask.key === undefined ? ask : { ...ask, key: 'nothing' })],
  ['under a match that fails', (ask) => ({ ...ask, headers: { ...ask.headers, 'If-Match': '"x"' } })],
  ['under a none-match that fails', (ask) => ({ ...ask, headers: { ...ask.headers, 'If-None-Match': '*' } })],
]

/** What is not implemented finds nothing, whatever it is asked for. */
const temptationsOf = (name: string) => (refused.has(name) ? temptations.slice(0, 1) : temptations)

let server: WireServer
const agent = new Agent({ keepAlive: true })
beforeAll(async () => {
  server = await startWireServer()
})
afterAll(async () => {
  agent.destroy()
  await server.close()
  expect(server.unexpected).toEqual([])
})

it('has a row for every route', () => {
  const listedHere = [...Object.keys(asks('', '')), ...refused.keys()].sort()
  expect(listedHere).toEqual(operations.map(({ name }) => name).sort())
})

describe.each(styles.map((style) => [styleName(style), style] as const))('%s', (_, style) => {
  let wire: Wire
  let uploadId = ''
  let etag = ''
  beforeAll(() => {
    wire = openWire(server.port, style)
  })
  afterAll(() => wire.close())
  beforeEach(async () => {
    await server.empty()
    for (const bucket of ['wire', 'empty']) await wire.must({ method: 'PUT', bucket })
    await wire.must({ method: 'PUT', bucket: 'locked', vendor: { 'bucket-object-lock-enabled': 'true' } })
    const heldVendor = {
      'object-lock-mode': 'GOVERNANCE',
      'object-lock-retain-until-date': lockedUntil,
      'object-lock-legal-hold': 'ON',
    }
    await wire.must({ method: 'PUT', ...held, ...sent('held'), vendor: heldVendor })
    for (const key of ['a', 'b']) await wire.must({ method: 'PUT', key, body: 'old', vendor: { tagging: 'a=1' } })
    await wire.must({
      method: 'PUT',
      query: { tagging: '' },
      body: '<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>',
    })
    const facts = await uploadOf(wire, ['part'])
    uploadId = facts.uploadId ?? ''
    etag = facts.etag1 ?? ''
  })

  const askOf = (name: string): Ask & { succeeds: number } => {
    const ask = asks(uploadId, etag)[name] ?? refused.get(name)
    if (ask === undefined) throw new Error(`${name} is not in the matrix`)
    return ask
  }
  /** Status and code, the code from the log, as HEAD has no body. */
  const answer = async (signed: SignedRequest): Promise<{ status: number; code: string }> => {
    const reply: Reply = await exchange(agent, server.port, signed)
    const { code } = await server.logged(reply.headers.get(`${style.prefix}request-id`) ?? '')
    return { status: reply.status, code }
  }
  const nothingChanged = async (): Promise<void> => {
    const { body, headers } = await wire.must({ method: 'GET', key: 'a' })
    expect([body.toString(), headers.get(`${style.prefix}tagging-count`)]).toEqual(['old', '1'])
    const keys = (await wire.must({ method: 'GET' })).body.toString()
    expect([...keys.matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key]) => key)).toEqual(['a', 'b'])
    const parts = (await wire.must({ method: 'GET', key: 'big', query: { uploadId } })).body.toString()
    expect([...parts.matchAll(/<PartNumber>(\d+)</g)].map(([, number]) => number)).toEqual(['1'])
    const uploads = (await wire.must({ method: 'GET', query: { uploads: '' } })).body.toString()
    expect([...uploads.matchAll(/<UploadId>(\w+)</g)].map(([, id]) => id)).toEqual([uploadId])
    await wire.must({ method: 'GET', query: { tagging: '' } })
    const buckets = (await wire.must({ method: 'GET', bucket: '' })).body.toString()
    expect([...buckets.matchAll(/<Name>(.*?)</g)].map(([, name]) => name)).toEqual(['empty', 'locked', 'wire'])
    const { headers: lockHeaders } = await wire.must({ method: 'HEAD', ...held })
    const locks = ['mode', 'retain-until-date', 'legal-hold']
    expect(locks.map((name) => lockHeaders.get(`${style.prefix}object-lock-${name}`))).toEqual([
      'GOVERNANCE',
      lockedUntil,
      'ON',
    ])
  }

  const names = operations.map(({ name }) => name)

  it.each(names)('%s is refused however an outsider signs, and whatever it would have found', async (name) => {
    for (const { how, code, sign } of outsiders)
      for (const [what, change] of temptationsOf(name)) {
        const answered = await answer(sign(change(askOf(name)), server.port, style))
        expect(answered, `signed ${how}, asked ${what}`).toEqual({ status: 403, code })
      }
    await nothingChanged()
  })

  it.each(names)('%s is refused to another account before anything in the bucket is told', async (name) => {
    // Names of buckets are known to all accounts; everything in them is not.
    for (const [what, change] of temptationsOf(name).filter(([what]) => what !== 'where there is no bucket'))
      for (const presigned of [false, true]) {
        const ask = { ...change(askOf(name)), signedBy: otherKey, presigned }
        const answered = await answer(signAsk(ask, server.port, style))
        expect(answered, `asked ${what}`).toEqual(othersAnswer(name))
        // What it made of its own.
        if (name === 'CreateBucket') await wire.must({ method: 'DELETE', bucket: 'another', signedBy: otherKey })
      }
    await nothingChanged()
  })

  it.each(names)('%s is answered to the owner', async (name) => {
    const { succeeds, ...ask } = askOf(name)
    const code = succeeds === 501 ? 'NotImplemented' : ''
    expect(await answer(signAsk(ask, server.port, style))).toEqual({ status: succeeds, code })
  })

  it.each(names)('%s is answered to the owner by a URL', async (name) => {
    const { succeeds, ...ask } = askOf(name)
    const code = succeeds === 501 ? 'NotImplemented' : ''
    expect(await answer(signAsk({ ...ask, presigned: true }, server.port, style))).toEqual({ status: succeeds, code })
  })
})

/** Two operations concern nobody's bucket, and what is not implemented is so for everybody. */
function othersAnswer(name: string): { status: number; code: string } {
  if (name === 'ListBuckets' || name === 'CreateBucket') return { status: 200, code: '' }
  return refused.has(name) ? { status: 501, code: 'NotImplemented' } : { status: 403, code: 'AccessDenied' }
}
