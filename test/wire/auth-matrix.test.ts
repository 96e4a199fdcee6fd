/** Every route x how it is signed: no path to an operation goes around the signature or the bucket's owner, and no answer tells an outsider anything. */
import { describe, expect, it } from 'vitest'
import { operations } from '../../src/operations/table.ts'
import type { SignedRequest } from '../support/signer.ts'
import { inTurn, isTrust } from '../support/turns.ts'
import { asks, type Succeeding } from '../support/wire-asks.ts'
import {
  type Ask,
  exchange,
  type Reply,
  type Style,
  signAsk,
  styleName,
  styles,
  withoutAuthorization,
} from '../support/wire-client.ts'
import { matrixAsk, matrixServer, preparedWire, refusedAsks, withHeader } from '../support/wire-matrix.ts'
import { mainKey, otherKey } from '../support/wire-server.ts'

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
  { how: 'not at all', code: 'AccessDenied', sign: (...request) => withoutAuthorization(signAsk(...request)) },
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

/** The same by URLs of version 2, which only the dialect of AWS has. */
const version2 = 'by version 2'
const outsidersByVersion2: readonly Way[] = [
  {
    how: 'by a URL of version 2 with a wrong secret',
    code: 'SignatureDoesNotMatch',
    sign: (ask, ...rest) => signAsk({ ...ask, presigned: version2, signedBy: wrongSecret }, ...rest),
  },
  {
    how: 'by a URL of version 2 with an unknown key',
    code: 'InvalidAccessKeyId',
    sign: (ask, ...rest) => signAsk({ ...ask, presigned: version2, signedBy: unknownKey }, ...rest),
  },
  {
    how: 'by a URL of version 2 that has expired',
    code: 'AccessDenied',
    sign: (ask, ...rest) => signAsk({ ...ask, presigned: version2, expiresSeconds: -1 }, ...rest),
  },
  {
    how: 'by a URL of version 2 for more than a week',
    code: 'AccessDenied',
    sign: (ask, ...rest) => signAsk({ ...ask, presigned: version2, expiresSeconds: 604_800 + 60 }, ...rest),
  },
  {
    how: 'by a URL of version 2 for another path',
    code: 'SignatureDoesNotMatch',
    sign: (ask, ...rest) => elsewhere(signAsk({ ...ask, presigned: version2 }, ...rest)),
  },
  {
    how: 'by a URL of version 2 with a vendor header that was added',
    code: 'SignatureDoesNotMatch',
    sign: (ask, ...rest) =>
      withHeader(signAsk({ ...ask, presigned: version2 }, ...rest), 'x-amz-copy-source', '/wire/b'),
  },
]

/** What a query says that has a meaning: a URL of version 2 signs a part of it alone. */
const signedByVersion2 = new Set(
  `accelerate acl analytics cors delete encryption inventory legal-hold lifecycle location logging metrics notification object-lock
  partNumber policy replication requestPayment restore retention select tagging torrent uploadId uploads versionId versioning versions
  website`.split(/\s+/),
)
const signsAll = ({ query = {} }: Ask): boolean => Object.keys(query).every((name) => signedByVersion2.has(name))

/** Forms are signed otherwise, and have a matrix of their own: form-post.test.ts. */
const signsItself = ({ authentication }: (typeof operations)[number]): boolean => authentication !== 'form'

/** The signature stays, and what it is for changes. */
function elsewhere(request: SignedRequest): SignedRequest {
  return { ...request, target: request.target.replace(/^(\/[^?]*)/, '$1x') }
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
const temptationsOf = (name: string) => (refusedAsks.has(name) ? temptations.slice(0, 1) : temptations)

/**
 * `npm run trust` tries each operation in each style, and each way with each temptation. Otherwise each operation has the styles in turn, another for each block of tests, and
 * each way meets the plain request and one other, in turn by operation and style.
 */
function temptationsInTurn(name: string, turn: number) {
  const [plain, ...others] = temptationsOf(name)
  const next = others[turn % others.length]
  return isTrust ? temptationsOf(name) : [plain, next].filter((each) => each !== undefined)
}

const matrix = matrixServer()

it('has a row for every route', () => {
  const listedHere = [...Object.keys(asks({ uploadId: '', etag: '' })), ...refusedAsks.keys()].sort()
  expect(listedHere).toEqual(operations.map(({ name }) => name).sort())
})

describe.each(styles.map((style) => [styleName(style), style] as const))('%s', (_, style) => {
  const prepared = preparedWire(matrix, style)
  const askOf = (name: string): Succeeding => matrixAsk(name, prepared().open)
  const signed = (ask: Ask): SignedRequest => signAsk(ask, matrix().server.port, style)
  const changes = (): Promise<string[]> => prepared().state.changes()
  /** Status and code, the code from the log, as HEAD has no body. */
  const answer = async (request: SignedRequest): Promise<{ status: number; code: string }> => {
    const { server, agent } = matrix()
    const reply: Reply = await exchange(agent, server.port, request)
    const { code } = await server.logged(reply.headers.get(`${style.prefix}request-id`) ?? '')
    return { status: reply.status, code }
  }
  const names = operations.filter(signsItself).map(({ name }) => name)
  /** Version 2 knows no other prefix. */
  const inVersion2 = styles.filter(({ prefix }) => prefix === 'x-amz-')

  it.each(inTurn(names, styles, style))(
    '%s is refused however an outsider signs, and whatever it would have found',
    async (name) => {
      for (const [way, { how, code, sign }] of outsiders.entries())
        for (const [what, change] of temptationsInTurn(name, names.indexOf(name) + styles.indexOf(style) + way)) {
          const answered = await answer(sign(change(askOf(name)), matrix().server.port, style))
          expect(answered, `signed ${how}, asked ${what}`).toEqual({ status: 403, code })
        }
      expect(await changes()).toEqual([])
    },
  )

  it.each(inTurn(names, inVersion2, style))(
    '%s is refused to URLs of version 2 that an outsider makes',
    async (name) => {
      for (const { how, code, sign } of outsidersByVersion2)
        for (const [what, change] of temptationsOf(name).slice(0, 2)) {
          const ask = change(askOf(name))
          // What it does not sign is refused first.
          const expected = signsAll(ask) ? code : 'AccessDenied'
          const answered = await answer(sign(ask, matrix().server.port, style))
          expect(answered, `signed ${how}, asked ${what}`).toEqual({ status: 403, code: expected })
        }
      expect(await changes()).toEqual([])
    },
  )

  it.each(inTurn(names, styles, style, 1))(
    '%s is refused to another account before anything in the bucket is told',
    async (name) => {
      // Names of buckets are known to all accounts; everything in them is not.
      for (const [what, change] of temptationsOf(name).filter(([what]) => what !== 'where there is no bucket'))
        for (const presigned of [false, true]) {
          const ask = { ...change(askOf(name)), signedBy: otherKey, presigned }
          const answered = await answer(signed(ask))
          expect(answered, `asked ${what}`).toEqual(othersAnswer(name))
          // What it made of its own.
          if (name === 'CreateBucket')
            await prepared().wire.must({ method: 'DELETE', bucket: 'another', signedBy: otherKey })
        }
      expect(await changes()).toEqual([])
    },
  )

  it.each(inTurn(names, styles, style, 2))('%s is answered to the owner', async (name) => {
    const { succeeds, code = '', ...ask } = askOf(name)
    expect(await answer(signed(ask))).toEqual({ status: succeeds, code })
  })

  it.each(inTurn(names, styles, style, 3))('%s is answered to the owner by a URL', async (name) => {
    const { succeeds, code = '', ...ask } = askOf(name)
    expect(await answer(signed({ ...ask, presigned: true }))).toEqual({ status: succeeds, code })
  })

  it.each(inTurn(names, inVersion2, style, 1))('%s is answered to the owner by a URL of version 2', async (name) => {
    const { succeeds, code = '', ...ask } = askOf(name)
    const expected = signsAll(ask) ? { status: succeeds, code } : { status: 403, code: 'AccessDenied' }
    expect(await answer(signed({ ...ask, presigned: version2 }))).toEqual(expected)
  })
})

/** Two operations concern nobody's bucket, and what is not implemented is so for everybody. */
function othersAnswer(name: string): { status: number; code: string } {
  if (name === 'ListBuckets' || name === 'CreateBucket') return { status: 200, code: '' }
  return refusedAsks.has(name) ? { status: 501, code: 'NotImplemented' } : { status: 403, code: 'AccessDenied' }
}
