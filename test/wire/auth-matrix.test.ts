/** Every route x how it is signed: no path to an operation goes around the signature or the bucket's owner, and no answer tells an outsider anything. */
import { Agent } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { operations } from '../../src/operations/table.ts'
import type { SignedRequest } from '../support/signer.ts'
import { asks, nothingChanged, type OpenUpload, prepareAsks, type Succeeding } from '../support/wire-asks.ts'
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

/** By name, for what `asks` lacks. */
const refused = new Map(
  operations.flatMap(({ name, method, target, query, implemented }): [string, Succeeding][] =>
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
              code: 'NotImplemented' as const,
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
  const listedHere = [...Object.keys(asks({ uploadId: '', etag: '' })), ...refused.keys()].sort()
  expect(listedHere).toEqual(operations.map(({ name }) => name).sort())
})

describe.each(styles.map((style) => [styleName(style), style] as const))('%s', (_, style) => {
  let wire: Wire
  let open: OpenUpload
  beforeAll(() => {
    wire = openWire(server.port, style)
  })
  afterAll(() => wire.close())
  beforeEach(async () => {
    await server.empty()
    open = await prepareAsks(wire)
  })

  const askOf = (name: string): Succeeding => {
    const ask = asks(open)[name] ?? refused.get(name)
    if (ask === undefined) throw new Error(`${name} is not in the matrix`)
    return ask
  }
  /** Status and code, the code from the log, as HEAD has no body. */
  const answer = async (signed: SignedRequest): Promise<{ status: number; code: string }> => {
    const reply: Reply = await exchange(agent, server.port, signed)
    const { code } = await server.logged(reply.headers.get(`${style.prefix}request-id`) ?? '')
    return { status: reply.status, code }
  }
  const names = operations.map(({ name }) => name)

  it.each(names)('%s is refused however an outsider signs, and whatever it would have found', async (name) => {
    for (const { how, code, sign } of outsiders)
      for (const [what, change] of temptationsOf(name)) {
        const answered = await answer(sign(change(askOf(name)), server.port, style))
        expect(answered, `signed ${how}, asked ${what}`).toEqual({ status: 403, code })
      }
    await nothingChanged(wire, open)
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
    await nothingChanged(wire, open)
  })

  it.each(names)('%s is answered to the owner', async (name) => {
    const { succeeds, code = '', ...ask } = askOf(name)
    expect(await answer(signAsk(ask, server.port, style))).toEqual({ status: succeeds, code })
  })

  it.each(names)('%s is answered to the owner by a URL', async (name) => {
    const { succeeds, code = '', ...ask } = askOf(name)
    expect(await answer(signAsk({ ...ask, presigned: true }, server.port, style))).toEqual({ status: succeeds, code })
  })
})

/** Two operations concern nobody's bucket, and what is not implemented is so for everybody. */
function othersAnswer(name: string): { status: number; code: string } {
  if (name === 'ListBuckets' || name === 'CreateBucket') return { status: 200, code: '' }
  return refused.has(name) ? { status: 501, code: 'NotImplemented' } : { status: 403, code: 'AccessDenied' }
}
