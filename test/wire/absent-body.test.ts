/** A document that an operation must be sent and that does not come: MissingRequestBodyError, however the request says that there is none. */
import { afterAll, describe, expect, it } from 'vitest'
import { operations } from '../../src/operations/table.ts'
import { asks, nothingChanged, type OpenUpload, prepareAsks } from '../support/wire-asks.ts'
import { md5Base64, referenceChecksum } from '../support/wire-checksums.ts'
import { type Ask, signAsk, styleName, styles } from '../support/wire-client.ts'
import { wireServer, wireTo } from '../support/wire-fixture.ts'
import { requestBytes, sendRaw } from '../support/wire-raw.ts'

const names = operations.flatMap(({ name, inputBody }) =>
  inputBody.kind === 'xml' && inputBody.required ? [name] : [],
)

const absences: [how: string, ask: Partial<Ask>][] = [
  ['Content-Length: 0', {}],
  ['an unsigned payload', { payload: 'unsigned' }],
  ['the MD5 of nothing', { headers: { 'Content-MD5': md5Base64('') } }],
  ['the checksum of nothing', { vendor: { 'checksum-crc32': referenceChecksum('CRC32', '') } }],
  ['signed chunks', { payload: { mode: 'signed', chunks: [], decodedLength: '0' } }],
  ['unsigned chunks', { payload: { mode: 'unsigned-trailer', chunks: [], decodedLength: '0' } }],
]

const server = wireServer()

it('asks for a document wherever S3 does', () => {
  const optional = operations.filter(({ inputBody }) => inputBody.kind === 'xml' && !inputBody.required)
  expect(optional.map(({ name }) => name)).toEqual([
    'CreateBucket',
    'PutBucketAcl',
    'PutObjectAcl',
    // S3 has another error for it.
    'CompleteMultipartUpload',
  ])
})

describe.each(styles.map((style) => [styleName(style), style] as const))('%s', (_, style) => {
  let open: OpenUpload
  const wire = wireTo(server, style, async (wire) => {
    await server.empty()
    open = await prepareAsks(wire)
  })
  afterAll(() => nothingChanged(wire, open))

  it.each(names)('%s', async (name) => {
    const ask = asks(open)[name]
    if (ask === undefined) throw new Error(`no request of ${name}`)
    const { body: _body, headers: _headers, ...bare } = ask
    for (const [how, more] of absences) {
      const reply = await wire.ask({ ...bare, ...more, vendor: { ...bare.vendor, ...more.vendor } })
      expect([how, /<Code>(\w+)</.exec(reply.body.toString())?.[1]]).toEqual([how, 'MissingRequestBodyError'])
    }
    const signed = signAsk(bare, server.port, style)
    const headers = signed.headers.filter(([header]) => header.toLowerCase() !== 'content-length')
    const reply = await sendRaw(server.port, requestBytes({ ...signed, headers }))
    expect(reply.code).toBe('MissingRequestBodyError')
  })
})
