/** Form posts: who may send one, what is none, and what is left when one breaks off. What a form says of its object: post-object.test.ts. */
import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type FormFileToSend, formBoundary, formBytes, formType, signForm } from '../support/forms.ts'
import { seededRandom } from '../support/seeded.ts'
import type { DialectPrefix, HeaderPair } from '../support/signer.ts'
import { openWire, type Wire } from '../support/wire-client.ts'
import { type RawReply, sendRaw } from '../support/wire-raw.ts'
import { deletingKey, mainKey, otherKey, startWireServer, type WireServer } from '../support/wire-server.ts'

let server: WireServer
let wire: Wire
beforeAll(async () => {
  server = await startWireServer()
  wire = openWire(server.port, { prefix: 'x-amz-', hosting: 'path' })
})
afterAll(async () => {
  wire.close()
  await server.close()
  expect(server.unexpected).toEqual([])
})
beforeEach(async () => {
  await server.empty()
  await wire.must({ method: 'PUT' })
})

async function denyWrites(Condition: object): Promise<void> {
  const statement = {
    Effect: 'Deny',
    Principal: '*',
    Action: 's3:PutObject',
    Resource: 'arn:aws:s3:::wire/*',
    Condition,
  }
  const body = JSON.stringify({ Version: '2012-10-17', Statement: [statement] })
  await wire.must({ method: 'PUT', query: { policy: '' }, body })
}

/** The same condition, with what it compares the other way round. */
const opposite = (condition: object): object => {
  const text = JSON.stringify(condition)
  if (text.includes('"true"')) return JSON.parse(text.replace('"true"', '"false"'))
  return JSON.parse(text.replace(/"String(Equals|Like)"/, '"StringNot$1"'))
}

async function nothingIsStored(): Promise<void> {
  expect((await wire.must({ method: 'GET' })).body.toString()).not.toContain('<Key>')
  expect((await wire.must({ method: 'GET', query: { uploads: '' } })).body.toString()).not.toContain('<Upload>')
}

interface Post {
  target?: string
  host?: string
  type?: string
  headers?: readonly string[]
  /** Announced instead of the body's. */
  length?: number
  ends?: boolean
}

function head(length: number, { target = '/wire', host = 'localhost', type = formType, headers = [] }: Post): string {
  const lines = [`POST ${target} HTTP/1.1`, `Host: ${host}`, `Content-Type: ${type}`, 'Connection: close', ...headers]
  return `${lines.join('\r\n')}\r\nContent-Length: ${length}\r\n\r\n`
}

const send = (body: Buffer, post: Post = {}, { port } = server): Promise<RawReply> =>
  sendRaw(port, Buffer.concat([Buffer.from(head(post.length ?? body.length, post)), body]), {
    ends: post.ends ?? false,
  })

const form: HeaderPair[] = [['key', 'posted']]
const signed = (prefix: DialectPrefix = 'x-amz-', more: Partial<Parameters<typeof signForm>[1]> = {}): HeaderPair[] =>
  signForm({ bucket: 'wire', fields: form }, { key: mainKey, prefix, ...more })
const file: FormFileToSend = { content: 'data', filename: 'a' }
const good = (): Buffer => formBytes(signed(), file)

const without = (fields: HeaderPair[], ...names: string[]): HeaderPair[] =>
  fields.filter(([name]) => !names.includes(name))
const changed = (fields: HeaderPair[], name: string, value: string): HeaderPair[] =>
  fields.map(([each, old]) => [each, each === name ? value : old])

describe.each([
  ['version 4 in the dialect of AWS', 'x-amz-', 4],
  ['version 4 in the own dialect', 'x-store-', 4],
  ['version 2', 'x-amz-', 2],
] as const)('signed by %s', (_, prefix, version) => {
  const by = (key = mainKey): HeaderPair[] => signed(prefix, { version, key })
  const signature = version === 2 ? 'signature' : `${prefix}signature`

  it.each([
    ['/wire', 'localhost'],
    ['/wire/', 'localhost'],
    ['/', 'wire.localhost'],
  ])('a form to %s of %s is stored', async (target, host) => {
    const reply = await send(formBytes(by(), file), { target, host })
    expect(reply.status).toBe(204)
    expect(reply.head.toLowerCase()).toContain(`\r\n${prefix}request-id: `)
    const requestId = /request-id: (\w+)/i.exec(reply.head)?.[1] ?? ''
    expect(await server.logged(requestId)).toMatchObject({ operation: 'PostObject', accessKeyId: mainKey.accessKeyId })
    expect((await wire.must({ method: 'GET', key: 'posted' })).body.toString()).toBe('data')
  })

  it.each<[string, () => HeaderPair[], string]>([
    ['without policy', () => without(by(), 'policy'), 'AccessDenied'],
    ['without anything that signs it', () => form, 'AccessDenied'],
    ['that names a key alone', () => [...form, ['AWSAccessKeyId', mainKey.accessKeyId]], 'AccessDenied'],
    ['with another policy', () => changed(by(), 'policy', 'e30='), 'SignatureDoesNotMatch'],
    ['with another signature', () => changed(by(), signature, '0'.repeat(64)), 'SignatureDoesNotMatch'],
    ['with a wrong secret', () => by({ ...mainKey, secretAccessKey: 'wrong' }), 'SignatureDoesNotMatch'],
    ['with an unknown key', () => by({ ...mainKey, accessKeyId: 'AKNOBODY' }), 'InvalidAccessKeyId'],
    ['by another account', () => by(otherKey), 'AccessDenied'],
    ['by a key that may not write', () => by(deletingKey), 'AccessDenied'],
    ['an hour ago', () => signed(prefix, { version, nowMs: Date.now() - 3_600_000 }), 'AccessDenied'],
    ['for another key', () => changed(by(), 'key', 'other'), 'AccessDenied'],
    ['with one field more', () => [...by(), ['Content-Type', 'text/html']], 'AccessDenied'],
    ['with metadata more', () => [...by(), [`${prefix}meta-a`, 'b']], 'AccessDenied'],
    ['with a token', () => [...by(), [`${prefix}security-token`, 'x']], 'InvalidToken'],
  ])('a form %s is refused', async (_what, fields, code) => {
    for (const post of [{}, { target: '/', host: 'wire.localhost' }, { target: '/nowhere' }]) {
      const reply = await send(formBytes(fields(), file), post)
      // Where there is no bucket, only who is known learns it, and not with a policy for another.
      expect(reply.code).toBe(code)
      expect(reply.status).toBe(code === 'InvalidToken' ? 400 : 403)
    }
    await nothingIsStored()
  })

  it.each<[what: string, Condition: object, headers?: readonly string[]]>([
    ['as a write that creates an object', { Bool: { 's3:ObjectCreationOperation': 'true' } }],
    [
      'by the version that signed it',
      { StringEquals: { 's3:signatureversion': ['AWS', 'AWS4-HMAC-SHA256'][version / 2 - 1] } },
    ],
    ['as a form', { StringEquals: { 's3:authType': 'POST' } }],
    ['by the page that it was sent from', { StringEquals: { 'aws:Referer': 'https://a/b' } }, ['Referer: https://a/b']],
    ['by the program that sent it', { StringLike: { 'aws:UserAgent': 'Form*' } }, ['User-Agent: FormSender/1']],
    ['by the condition of the write', { Null: { 's3:if-none-match': 'true' } }],
  ])('a form is judged %s', async (_what, Condition, headers = []) => {
    await denyWrites(Condition)
    expect((await send(formBytes(by(), file), { headers })).code).toBe('AccessDenied')
    await denyWrites(opposite(Condition))
    expect((await send(formBytes(by(), file), { headers })).status).toBe(204)
  })

  it('a bucket that is not there is told to who may write', async () => {
    const fields = signForm({ bucket: 'nowhere', fields: form }, { key: mainKey, prefix, version })
    expect(await send(formBytes(fields, file), { target: '/nowhere' })).toMatchObject({ code: 'NoSuchBucket' })
  })
})

describe('what is posted', () => {
  it.each([
    ['to an object', '/wire/key', formType],
    ['to the service', '/', formType],
    ['with a query', '/wire?delete', formType],
  ])('%s is a request without signature', async (_what, target, type) => {
    expect(await send(good(), { target, type })).toMatchObject({ status: 403, code: 'AccessDenied' })
    await nothingIsStored()
  })

  it('with a query of no meaning is told that forms have none', async () => {
    const reply = await send(good(), { target: '/wire?made-up=1', type: formType })
    expect(reply).toMatchObject({ status: 400, code: 'InvalidArgument' })
    expect(reply.body).toContain('<Message>Query String Parameters not allowed on POST requests.</Message>')
    await nothingIsStored()
  })

  it('that is no form is told that it must be one', async () => {
    const type = 'application/x-www-form-urlencoded'
    expect(await send(good(), { target: '/wire', type })).toMatchObject({ status: 412, code: 'PreconditionFailed' })
    await nothingIsStored()
  })

  it.each([
    ['a form in a signed request', formType],
    ['what is no form', 'text/plain'],
  ])('%s: the request is not signed, its form is', async (_what, type) => {
    const reply = await wire.ask({ method: 'POST', headers: { 'Content-Type': type }, body: good() })
    expect([reply.status, /<Code>(\w+)/.exec(reply.body.toString())?.[1]]).toEqual([412, 'PreconditionFailed'])
    await nothingIsStored()
  })

  it('under a setting that takes no version 2 is refused with its name', async () => {
    const strict = await startWireServer({ sigv2: 'off' })
    const body = formBytes(signed('x-amz-', { version: 2 }), file)
    const reply = await sendRaw(strict.port, Buffer.concat([Buffer.from(head(body.length, {})), body]))
    expect(reply).toMatchObject({ status: 400, code: 'InvalidRequest' })
    expect(reply.body).toContain('sigv2 = presigned')
    await strict.close()
  })
})

const part = (name: string, value = 'x'): string =>
  `--${formBoundary}\r\nContent-Disposition: form-data; name=${name}\r\n\r\n${value}\r\n`
/** A good form with other bytes in front of it. */
const behind = (bytes: string | Buffer): Buffer => Buffer.concat([Buffer.from(bytes), good()])
const ignored = (count: number, name = 'x-ignore-'): string =>
  Array.from({ length: count }, (_, i) => part(`"${name}${i}"`)).join('')

describe('bad input', () => {
  it.each<[what: string, code: string, body: () => Buffer, post?: Post]>([
    ['nothing', 'MalformedPOSTRequest', () => Buffer.alloc(0)],
    ['another boundary', 'MalformedPOSTRequest', good, { type: 'multipart/form-data; boundary=other' }],
    ['no boundary', 'MalformedPOSTRequest', good, { type: 'multipart/form-data' }],
    ['an empty boundary', 'MalformedPOSTRequest', good, { type: 'multipart/form-data; boundary=' }],
    [
      'a boundary that is too long',
      'MalformedPOSTRequest',
      good,
      { type: `multipart/form-data; boundary=${'b'.repeat(300)}` },
    ],
    ['another type of multipart', 'PreconditionFailed', good, { type: `multipart/mixed; boundary=${formBoundary}` }],
    ['only the end', 'InvalidArgument', () => formBytes([], undefined)],
    ['no file', 'InvalidArgument', () => formBytes(signed(), undefined)],
    ['the file before its key', 'InvalidArgument', () => formBytes([], { ...file, after: signed() })],
    ['no key', 'InvalidArgument', () => formBytes(without(signed(), 'key'), file)],
    ['a field twice', 'InvalidArgument', () => formBytes([...signed(), ['KEY', 'other']], file)],
    ['10,000 fields', 'MaxPostPreDataLengthExceeded', () => behind(ignored(10_000))],
    ['a long field', 'MaxPostPreDataLengthExceeded', () => behind(part('"x-ignore-a"', 'x'.repeat(21_000)))],
    [
      'a field of a megabyte in one line',
      'MaxPostPreDataLengthExceeded',
      () => behind(part('"x-ignore-a"', 'x'.repeat(1 << 20))),
    ],
    [
      'a field that has no end',
      'MaxPostPreDataLengthExceeded',
      () => Buffer.from(part('"x-ignore-a"', 'x'.repeat(300_000))),
    ],
    ['a long name', 'MaxPostPreDataLengthExceeded', () => behind(part(`"x-ignore-${'x'.repeat(21_000)}"`))],
    [
      'a head without end',
      'MaxPostPreDataLengthExceeded',
      () => Buffer.from(`--${formBoundary}\r\n${'a: b\r\n'.repeat(9000)}`),
    ],
    ['a long text in front of it', 'MaxPostPreDataLengthExceeded', () => behind(`${'x'.repeat(30_000)}\r\n`)],
    ['line ends alone', 'MaxPostPreDataLengthExceeded', () => Buffer.alloc(300_000, '\n')],
    [
      'a name that grows',
      'MaxPostPreDataLengthExceeded',
      () =>
        formBytes([...signed(), ['b', `${'$'}{filename}`.repeat(900)]], {
          ...file,
          filename: 'x'.repeat(1000),
        }),
    ],
    ['bytes for a name', 'MalformedPOSTRequest', () => behind(Buffer.from(part('"\u0001\u00ff"'), 'latin1'))],
    ['a part that is no field', 'MalformedPOSTRequest', () => behind(`--${formBoundary}\r\nA: b\r\n\r\nx\r\n`)],
    ['a name in two lines', 'MalformedPOSTRequest', () => behind(part('"x-ignore-a\nb"'))],
    ['an empty name', 'MalformedPOSTRequest', () => behind(part('""'))],
    ['an empty name of a long field', 'MalformedPOSTRequest', () => behind(part('""', 'x'.repeat(30_000)))],
    [
      'no name',
      'MalformedPOSTRequest',
      () => behind(`--${formBoundary}\r\nContent-Disposition: form-data\r\n\r\nx\r\n`),
    ],
    [
      'a value that is not UTF-8',
      'MalformedPOSTRequest',
      () => behind(Buffer.from(part('"x-ignore-a"', '\u00ff'), 'latin1')),
    ],
    [
      'a policy that is no policy',
      'InvalidPolicyDocument',
      () =>
        formBytes(signForm({ bucket: 'wire', fields: form, policy: '{' }, { key: mainKey, prefix: 'x-amz-' }), file),
    ],
    ['a head that breaks off', 'MalformedPOSTRequest', () => Buffer.from(`--${formBoundary}\r\nContent-Disp`)],
    ['a field that breaks off', 'MalformedPOSTRequest', () => Buffer.from(part('"key"').slice(0, -2))],
    ['a file that breaks off', 'MalformedPOSTRequest', () => good().subarray(0, good().indexOf('data') + 2)],
    ['a boundary that breaks off', 'MalformedPOSTRequest', () => good().subarray(0, -10)],
    ['no end', 'MalformedPOSTRequest', () => good().subarray(0, -4)],
    [
      'a large file that breaks off',
      'MalformedPOSTRequest',
      () => formBytes(signed(), { ...file, content: Buffer.alloc(600_000) }).subarray(0, -10),
    ],
    [
      'megabytes behind the file',
      'MalformedPOSTRequest',
      () => formBytes(signed(), { ...file, after: [['a', 'x'.repeat(3 << 20)]] }),
    ],
    ['less than was announced', 'IncompleteBody', good, { length: 10_000, ends: true }],
    [
      'less of a large file than was announced',
      'IncompleteBody',
      () => formBytes(signed(), { ...file, content: Buffer.alloc(600_000) }),
      { length: 5_000_000, ends: true },
    ],
  ])('%s: %s, and nothing is stored', async (_what, code, body, post) => {
    const reply = await send(body(), post)
    expect(reply.code).toBe(code)
    expect(Math.floor(reply.status / 100)).toBe(4)
    await nothingIsStored()
  })

  it('a length that is not announced: MissingContentLength', async () => {
    const lines = ['POST /wire HTTP/1.1', 'Host: localhost', `Content-Type: ${formType}`, 'Transfer-Encoding: chunked']
    const body = good()
    const chunk = Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')])
    const reply = await sendRaw(server.port, Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), chunk]))
    expect(reply).toMatchObject({ status: 411, code: 'MissingContentLength' })
    await nothingIsStored()
  })

  it('a form cut at any byte is refused, and stores nothing', async () => {
    const body = good()
    for (let bytes = 0; bytes < body.length - 2; bytes += 7) {
      const { status } = await send(body.subarray(0, bytes))
      expect([bytes, Math.floor(status / 100)]).toEqual([bytes, 4])
    }
    await nothingIsStored()
  })

  it('a form of which anything is changed is a client’s mistake, or as good as before', async () => {
    const random = seededRandom(13)
    const below = (bound: number): number => Math.floor(random() * bound)
    const statuses = new Set<number>()
    for (let round = 0; round < 400; round++) {
      let body = good()
      for (let change = below(3); change >= 0; change--) {
        const [from, other] = [below(body.length), below(body.length)]
        const piece = body.subarray(other, other + below(60))
        const added = [Buffer.alloc(0), Buffer.from([below(256)]), piece, Buffer.from('\r\n'), Buffer.from('"')][
          below(5)
        ]
        body = Buffer.concat([body.subarray(0, from), added ?? piece, body.subarray(from + below(8))])
      }
      const { status, code } = await send(body)
      expect([204, 400, 403], `round ${round}: ${code}`).toContain(status)
      statuses.add(status)
      // Whatever else was changed, the policy still names the key.
      if (status === 204) expect((await wire.must({ method: 'DELETE', key: 'posted' })).status).toBe(204)
      else expect((await wire.ask({ method: 'HEAD', key: 'posted' })).status).toBe(404)
    }
    expect([...statuses].sort()).toEqual([204, 400, 403])
    await nothingIsStored()
  })

  it('a refused form leaves the connection to the next request', async () => {
    const body = formBytes(changed(signed(), 'key', 'other'), { ...file, content: Buffer.alloc(500_000) })
    for (let i = 0; i < 3; i++) {
      const reply = await wire.ask({ method: 'POST', form: { key: '' }, body })
      expect(reply.status).toBe(400)
      expect((await wire.must({ method: 'GET' })).status).toBe(200)
    }
  })
})

describe('a file', () => {
  const sizes = [0, 1, 65_536, 262_143, 262_144, 262_145, 300_000, 2_000_003]
  const ends: readonly (readonly [what: string, file: Partial<FormFileToSend>])[] = [
    ['ends the form as browsers write it', {}],
    ['ends the form without a line end', { end: '' }],
    [
      'is followed by fields',
      {
        after: [
          ['submit', 'Upload'],
          ['key', 'ignored'],
          ['file', 'another'],
        ],
      },
    ],
    ['is followed by many fields', { after: [['submit', 'x'.repeat(60_000)]] }],
    ['is followed by text', { end: '\r\nan epilogue' }],
  ]
  it.each(ends)('that %s is stored as it was sent, whatever its size', async (_what, more) => {
    for (const size of sizes) {
      // Full of what looks like a boundary.
      const content = Buffer.alloc(size, `\r\n--${formBoundary.slice(0, -1)}\r\n\r\n--`)
      const reply = await send(formBytes(signed(), { ...file, content, ...more }))
      expect([size, reply.status]).toEqual([size, 204])
      const { body } = await wire.must({ method: 'GET', key: 'posted' })
      expect([size, body.equals(content)]).toEqual([size, true])
    }
    expect((await wire.must({ method: 'GET' })).body.toString().match(/<Key>/g)).toHaveLength(1)
  })

  it('that begins with an empty line keeps it', async () => {
    for (const content of ['\r\n', '\r\n\r\nx', '\n', '--', `-${formBoundary}`, '\r']) {
      expect((await send(formBytes(signed(), { ...file, content }))).status).toBe(204)
      expect((await wire.must({ method: 'GET', key: 'posted' })).body.toString()).toBe(content)
    }
  })

  it('may have no name, and other fields may have one', async () => {
    const named = good().toString().replace('name="key"', 'name="key"; filename="key"')
    expect((await send(Buffer.from(named))).status).toBe(204)
    expect((await send(formBytes(signed(), { content: 'data' }))).status).toBe(204)
  })

  it('that comes byte by byte is the same', async () => {
    const body = good()
    const socket = connect(server.port, '127.0.0.1')
    const answered = new Promise<string>((resolve) => {
      let all = ''
      socket.setNoDelay(true).on('data', (data) => {
        all += data.toString()
      })
      socket.on('close', () => resolve(all))
    })
    socket.write(head(body.length, {}))
    for (const byte of body) await new Promise<void>((resolve) => socket.write(Buffer.from([byte]), () => resolve()))
    expect(await answered).toMatch(/^HTTP\/1.1 204 /)
    expect((await wire.must({ method: 'GET', key: 'posted' })).body.toString()).toBe('data')
  })
})

describe('a client that takes its time', () => {
  let hasty: WireServer
  beforeAll(async () => {
    hasty = await startWireServer({ bounds: { idleBodyTimeoutMs: 300 } })
    await openWire(hasty.port, wire.style).must({ method: 'PUT' })
  })
  afterAll(() => hasty.close())

  const large = (): Buffer => formBytes(signed(), { ...file, content: Buffer.alloc(600_000) })
  const keys = async (): Promise<string> =>
    (await openWire(hasty.port, wire.style).must({ method: 'GET' })).body.toString()

  it.each<[where: string, body: () => Buffer, length: number]>([
    ['within the fields', () => good().subarray(0, 100), 10_000],
    ['behind a small file', good, 10_000],
    ['within a large file', () => large().subarray(0, 400_000), 600_000],
    ['behind a large file', large, 650_000],
  ])('is cut %s, and nothing is stored', async (_where, body, length) => {
    expect(await send(body(), { length }, hasty)).toMatchObject({ status: 400, code: 'RequestTimeout' })
    expect(await keys()).not.toContain('<Key>')
  })

  it('has what it holds counted', async () => {
    const patient = await startWireServer({ bounds: { clientBytesMax: 300_000 } })
    await openWire(patient.port, wire.style).must({ method: 'PUT' })
    const bytes = Buffer.concat([Buffer.from(head(5_000_000, {})), large()])
    const slow = connect(patient.port, '127.0.0.1')
    slow.on('error', () => {}).write(bytes)
    const answers = async (code: string): Promise<void> => {
      while ((await send(large(), {}, patient)).code !== code);
    }
    await answers('SlowDown')
    slow.destroy()
    await answers('')
    await patient.close()
  })
})
