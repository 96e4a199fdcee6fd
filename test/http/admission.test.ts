/** Which requests without a signature reach an operation, and what the others are told. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Authentication, Method, Target } from '../../src/contract/operation.ts'
import { optional, string, struct } from '../../src/contract/shapes.ts'
import { defineOperation } from '../../src/operations/context.ts'
import { type Fixture, key, startFixture } from './fixture.ts'

function answersWhoAsked(name: string, method: Method, target: Target, more: { permission?: string } & Admits = {}) {
  const { permission = [], ...rest } = more
  return defineOperation({
    name,
    method,
    target,
    permission,
    ...rest,
    summary: '',
    input: {},
    output: {},
    outputBody: { kind: 'xml', root: 'Asked', shape: struct({ Operation: string, By: optional(string) }) },
    errors: [],
    handle: async ({ principal }) => ({ body: { Operation: name, By: principal.accessKeyId } }),
  })
}

interface Admits {
  authentication?: Authentication
}

let fixture: Fixture
beforeAll(async () => {
  fixture = await startFixture([
    answersWhoAsked('GetObject', 'GET', 'object', { authentication: 'anonymous allowed' }),
    answersWhoAsked('DeleteObject', 'DELETE', 'object', {
      authentication: 'anonymous allowed',
      permission: 's3:DeleteObject',
    }),
    answersWhoAsked('ListObjects', 'GET', 'bucket'),
    answersWhoAsked('PostObject', 'POST', 'bucket', { authentication: 'form' }),
  ])
})
afterAll(() => fixture.close())

const unsigned = (line: string, more = ''): Promise<string> =>
  fixture.raw(`${line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${more}Content-Length: 0\r\n\r\n`)
const form = 'Content-Type: multipart/form-data; boundary=b\r\n'

describe('a request without a signature', () => {
  it.each([['that anybody may send', 'GetObject', 'GET /bucket/key', '']])(
    '%s reaches its operation, as nobody’s: %s',
    async (_what, operation, line, headers) => {
      const answer = await unsigned(line, headers)
      expect(answer).toMatch(/^HTTP\/1.1 200 /)
      expect(answer).toContain(`<Operation>${operation}</Operation><By></By>`)
      await fixture.logged((logged) => logged.operation === operation && logged.accessKeyId === '')
    },
  )

  it('that is a form is read, because the proof is in it', async () => {
    expect(await unsigned('POST /bucket', form)).toContain('<Code>MalformedPOSTRequest</Code>')
  })

  it.each([
    ['that must be signed', 'AccessDenied', 'GET /bucket', ''],
    ['that is a form and means nothing', 'AccessDenied', 'POST /bucket/key', form],
    ['that means nothing', 'AccessDenied', 'PATCH /bucket/key', ''],
    ['of no key', 'AccessDenied', 'GET /bucket/%ff', ''],
    ['that does what nobody is permitted', 'AccessDenied', 'DELETE /bucket/key', ''],
  ])('%s is refused: %s', async (_what, code, line, headers) => {
    const answer = await unsigned(line, headers)
    expect(answer).toMatch(/^HTTP\/1.1 403 /)
    expect(answer).toContain(`<Code>${code}</Code>`)
  })
})

it('without a signature or a form, where only a form means something, is told so', async () => {
  const answer = await unsigned('POST /bucket', '')
  expect(answer).toMatch(/^HTTP\/1.1 412 /)
  expect(answer).toContain('<Condition>Bucket POST must be of the enclosure-type multipart/form-data</Condition>')
})

describe('a request with a signature', () => {
  it('is its signer’s, where anybody may send it', async () => {
    const { body } = await fixture.send({ path: '/bucket/key' })
    expect(body.toString()).toContain(`<By>${key.accessKeyId}</By>`)
  })

  it('that is wrong is refused, where anybody may send it', async () => {
    const wrong = { key: { ...key, secretAccessKey: 'not-the-secret-of-the-tests' } }
    expect((await fixture.send({ path: '/bucket/key' }, wrong)).code).toBe('SignatureDoesNotMatch')
  })
})

it('every answer carries the request’s id', async () => {
  const answers = await Promise.all([unsigned('GET /bucket/key'), unsigned('GET /bucket'), unsigned('OPTIONS /b')])
  for (const answer of answers) expect(answer).toMatch(/\r\nServer: Holdfast\r\nx-amz-request-id: [0-9A-F]{16}\r\n/)
})
