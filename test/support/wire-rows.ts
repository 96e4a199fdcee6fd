/**
 * Runs rows: what is asked, and what must be answered. In `npm run trust`, every row runs raw and signed by hand in both dialects and both address styles unless it is said which,
 * and through the AWS SDK where it has a command for it. In `npm test`, the rows of an operation take these forms in turn. Bucket `wire` is there before each run, and nothing else.
 *
 * `{{name}}` in a row stands for a fact that its `given` found out; `{{prefix}}` is the dialect's, and `{{kmsKeyId}}` its header of that meaning.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { ErrorCode } from '../../src/errors.ts'
import { errorTable } from '../../src/errors.ts'
import { inTurn } from './turns.ts'
import {
  type Ask,
  accountPath,
  type Reply,
  type Style,
  styleName,
  styles,
  tagsPath,
  type Wire,
  wireBucket,
} from './wire-client.ts'
import { wireServer, wireTo } from './wire-fixture.ts'
import { openSdk, type SdkCall } from './wire-sdk.ts'
import type { WireServer, WireServerOptions } from './wire-server.ts'
import { readXml, type XmlDocument, type XmlValue } from './wire-xml.ts'

export type Facts = Record<string, string>

/** Prepares what a row asks about, and may find out facts. */
export type Given = (wire: Wire) => Promise<Facts> | Promise<void>

export interface Expected {
  status: number
  /** The code of an error. HEAD has no body for it, so the server's log is asked. */
  code?: ErrorCode
  /** The text of an error, where clients or their test suites compare it. */
  message?: string
  /** Elements of an error beside those that every error has. */
  details?: Record<string, unknown>
  /** `undefined`: must not be sent. */
  headers?: Record<string, unknown>
  /** All vendor headers beside those of every answer, without prefix. */
  vendor?: Record<string, unknown>
  /** The whole document: its root, and what is in it. */
  xml?: Record<string, unknown>
  body?: string | Buffer
}

export interface Row extends Expected {
  it: string
  /**
   * What this row shows to work, beside all that it expects of the answer: parameters as the support table names them (`query:prefix`),
   * what `afterwards` finds in the answer (`answer header:ETag`), and sentences of the interface document.
   */
  proves?: readonly string[]
  /** Finds nothing there, not even the bucket. */
  withoutBucket?: boolean
  given?: Given
  ask: Ask
  /** What must hold once it was answered. */
  afterwards?: (wire: Wire, reply: Reply, facts: Facts) => Promise<void>
  /** What the server took the request for. Empty: it was refused before that was known. Otherwise the operation under test. */
  takenFor?: string
  /** What is different in a dialect. */
  answerIn?: Partial<Record<Style['prefix'], Expected & Pick<Row, 'afterwards'>>>
  sdk?: SdkCall
}

export interface Stage {
  server: Omit<WireServer, 'close'>
  operation: string
}

export interface OperationRows {
  operation: string
  rows: readonly Row[]
  /** They need a server of their own. */
  needsOptions: boolean
}

let collected: OperationRows[] | undefined

/** What the files that `load` imports test by rows. None of it runs. */
export async function collectWireTests(load: () => Promise<unknown>): Promise<readonly OperationRows[]> {
  const found: OperationRows[] = []
  collected = found
  await load()
  collected = undefined
  return found
}

/** Every row of an operation. The file that calls it is the wire test of `operation`, and has no other tests. */
export function wireTests(
  operation: string,
  rows: readonly Row[],
  { hostings = ['path', 'virtual-host'], ...options }: WireServerOptions & { hostings?: Style['hosting'][] } = {},
): void {
  if (rows.every(({ takenFor }) => takenFor !== undefined)) throw new Error(`no row is taken for ${operation}`)
  if (collected !== undefined) {
    collected.push({ operation, rows, needsOptions: Object.keys(options).length > 0 })
    return
  }
  describe(operation, () => {
    const server = wireServer(options)
    afterEach(() => server.empty())
    const stage = { server, operation }
    const here = styles.filter(({ hosting }) => hostings.includes(hosting))
    for (const style of here) rawTests(style, rowsInTurn(rows, here, style), stage)
    const called = rows.flatMap((row) => (row.sdk === undefined ? [] : [{ ...row, sdk: row.sdk }]))
    for (const hosting of hostings) sdkTests(hosting, inTurn(called, hostings, hosting), stage)
  })
}

/** Those that are to be answered otherwise in a dialect run in each. */
function rowsInTurn(rows: readonly Row[], here: readonly Style[], style: Style): readonly Row[] {
  const [special, plain] = [true, false].map((isSpecial) =>
    rows.filter(({ answerIn }) => (answerIn !== undefined) === isSpecial),
  )
  const ofDialect = here.filter(({ prefix }) => prefix === style.prefix)
  return [...inTurn(plain ?? [], here, style), ...inTurn(special ?? [], ofDialect, style)]
}

/** On a server that is emptied after each. */
export function rawTests(style: Style, rows: readonly Row[], stage: Stage): void {
  if (rows.length === 0) return
  describe(styleName(style), () => {
    const wire = wireTo(stage.server, style)
    const rowsHere = rows.map((row): Row => ({ ...row, ...row.answerIn?.[style.prefix] }))
    it.each(rowsHere.map((row) => [row.it, row] as const))('%s', async (_, row) => {
      const facts = await prepare(row, wire)
      const fill = filler(facts)
      const reply = await wire.ask(fill(row.ask))
      await expectReply(reply, fill(expectedOf(row)), style, stage, row.takenFor)
      expectResource(reply, fill(row.ask))
      if (reply.body.includes('<Error>'))
        expect(reply.body.includes('<ErrorResponse>')).toBe(row.ask.account !== undefined)
      await row.afterwards?.(wire, reply, facts)
    })
  })
}

type CalledRow = Row & { sdk: SdkCall }

function sdkTests(hosting: Style['hosting'], called: readonly CalledRow[], { server }: Stage): void {
  if (called.length === 0) return
  describe(`the AWS SDK in ${hosting} style`, () => {
    const wire = wireTo(server, { prefix: 'x-amz-', hosting })
    let client: ReturnType<typeof openSdk>
    beforeAll(() => {
      client = openSdk(server.port, hosting)
    })
    afterAll(() => client.destroy())
    it.each(called.map((row) => [row.it, row] as const))('%s', async (_, row) => {
      const fill = filler(await prepare(row, wire))
      const answered = await settle(row.sdk.send(client, fill))
      expect(answered).toMatchObject({ $metadata: { httpStatusCode: row.status } })
      const isError = answered instanceof Error
      expect(isError).toBe(row.status >= 300)
      // A HEAD's answer has no body that could name the code.
      if (isError && row.code !== undefined && row.ask.method !== 'HEAD' && row.status !== 304) {
        expect(answered.name).toBe(row.code)
      }
      const absent = Object.fromEntries(Object.keys(row.sdk.output).map((name) => [name, undefined]))
      expect({ ...absent, ...(await withText(answered)) }).toMatchObject(fill(row.sdk.output))
    })
  })
}

async function prepare(row: Row, wire: Wire): Promise<Facts> {
  if (!row.withoutBucket) await wire.must({ method: 'PUT' })
  return { prefix: wire.style.prefix, kmsKeyId: kmsKeyHeader(wire.style.prefix), ...(await row.given?.(wire)) }
}

/** Without prefix. The interface document calls it otherwise than AWS does. */
export const kmsKeyHeader = (prefix: Style['prefix']): string =>
  prefix === 'x-store-' ? 'server-side-encryption-kms-key-id' : 'server-side-encryption-aws-kms-key-id'

/** Resolves either way. */
const settle = (call: Promise<object>): Promise<object> => call.catch((error: object) => error)

/** The body, where there is one, as text. */
async function withText(output: object): Promise<object> {
  if (output instanceof Error) return { ...output, name: output.name }
  const { Body } = output as { Body?: { transformToString?(): Promise<string> } }
  return Body?.transformToString === undefined ? output : { ...output, Body: await Body.transformToString() }
}

const expectedOf = ({ status, code, message, details, headers, vendor, xml, body }: Row): Expected => ({
  status,
  ...(code === undefined ? {} : { code }),
  ...(message === undefined ? {} : { message }),
  ...(details === undefined ? {} : { details }),
  ...(headers === undefined ? {} : { headers }),
  ...(vendor === undefined ? {} : { vendor }),
  ...(xml === undefined ? {} : { xml }),
  ...(body === undefined ? {} : { body }),
})

/** Puts facts into the strings of plain data; what else a row holds (matchers, buffers) stays as it is. */
function filler(facts: Facts): <T>(value: T) => T {
  const fillText = (text: string): string =>
    text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
      const fact = facts[name]
      if (fact === undefined) throw new Error(`the row has no fact ${name}`)
      return fact
    })
  const fill = (value: unknown): unknown => {
    if (typeof value === 'string') return fillText(value)
    if (Array.isArray(value)) return value.map(fill)
    const isPlain = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
    return isPlain
      ? Object.fromEntries(Object.entries(value).map(([name, part]) => [fillText(name), fill(part)]))
      : value
  }
  return (value) => fill(value) as typeof value
}

/** Whatever the answer is: it is what the row says, it speaks the request's dialect, and the log tells the same story. */
async function expectReply(
  reply: Reply,
  expected: Expected,
  style: Style,
  { server, operation }: Stage,
  takenFor = operation,
): Promise<void> {
  const { status, code = '', headers = {}, vendor = {} } = expected
  const said = reply.body.length > 0 && isXml(reply) ? readXml(reply.body) : undefined
  expect({ status: reply.status, code: codeOf(said) }).toEqual({ status, code: reply.body.length > 0 ? code : '' })
  expectDialect(reply, vendor, style)
  for (const [name, value] of Object.entries(headers)) {
    expect(reply.headers.get(name.toLowerCase()), name).toEqual(value)
  }
  const requestId = reply.headers.get(`${style.prefix}request-id`) ?? ''
  const { operation: logged, code: loggedCode, status: loggedStatus } = await server.logged(requestId)
  expect({ logged, loggedCode, loggedStatus }).toEqual({ logged: takenFor, loggedCode: code, loggedStatus: status })

  if (said?.root === 'Error' || said?.root === 'ErrorResponse') expectError(said, expected, requestId)
  else if (expected.xml !== undefined) expectDocument(said, expected.xml, style)
  if (expected.body !== undefined)
    expect(reply.body.toString('latin1')).toBe(Buffer.from(expected.body).toString('latin1'))
}

const isXml = (reply: Reply): boolean =>
  reply.headers.get('content-type') === 'application/xml' && reply.body.subarray(0, 5).toString() === '<?xml'

function codeOf(document: XmlDocument | undefined): XmlValue | XmlValue[] {
  const isError = document?.root === 'Error' || document?.root === 'ErrorResponse'
  return isError ? (errorIn(document).Code ?? '') : ''
}

/** The elements of an error. S3 Control has them in an element of their own, and the ids beside it. */
export function errorIn({ root, value }: XmlDocument): Record<string, string> {
  if (root === 'Error') return value as Record<string, string>
  const { Error: error, ...ids } = value as Record<string, Record<string, string> | string>
  return { ...(error as Record<string, string>), ...(ids as Record<string, string>) }
}

function expectDialect(reply: Reply, vendor: Record<string, unknown>, { prefix }: Style): void {
  const ids = prefix === 'x-amz-' ? ['x-amz-request-id', 'x-amz-id-2'] : ['x-store-request-id']
  const vendorNames = [...reply.headers.keys()].filter((name) => /^x-(?:amz|store)-/.test(name))
  const beside = vendorNames.filter((name) => !ids.includes(name))
  expect(vendorNames).toEqual(expect.arrayContaining(ids))
  expect(Object.fromEntries(beside.map((name) => [name, reply.headers.get(name)]))).toEqual(
    Object.fromEntries(Object.entries(vendor).map(([name, value]) => [prefix + name, value])),
  )
}

function expectError(document: XmlDocument, { code, message, details }: Expected, requestId: string): void {
  expect(document.namespace).toBeUndefined()
  const { Code, Message, Resource, RequestId, HostId, ...rest } = errorIn(document)
  expect({ Code, RequestId }).toEqual({ Code: code, RequestId: requestId })
  expect(Message).toEqual(message ?? expect.stringMatching(/./))
  expect([typeof Resource, typeof HostId]).toEqual(['string', 'string'])
  if (details !== undefined) expect(rest).toEqual(details)
}

/** The resource of an error is what was asked for, in whichever style. */
function expectResource(reply: Reply, { account, arn, bucket = wireBucket, key = '', form }: Ask): void {
  const resource = /<Resource>([^<]*)<\/Resource>/.exec(reply.body.toString())?.[1]
  if (resource === undefined || bucket === '' || !/^[\w/.-]*$/.test(key)) return
  // A form tells its key late.
  if (account !== undefined) expect(resource).toBe(arn === undefined ? accountPath : tagsPath(arn))
  else if (form !== undefined) expect([`/${bucket}`, `/${bucket}/${form.key}`]).toContain(resource)
  else expect(resource).toBe(key === '' ? `/${bucket}` : `/${bucket}/${key}`)
}

function expectDocument(said: XmlDocument | undefined, xml: Record<string, unknown>, { prefix }: Style): void {
  expect(said?.namespace).toBe(prefix === 'x-amz-' ? 'http://s3.amazonaws.com/doc/2006-03-01/' : undefined)
  expect(said === undefined ? undefined : { [said.root]: said.value }).toEqual(xml)
}

/** Every code is in the table, and its status is the table's: what a row says twice must agree. */
export const refusal = (
  code: ErrorCode,
  details?: Record<string, unknown>,
): Pick<Expected, 'status' | 'code' | 'details'> => ({
  status: errorTable[code].status,
  code,
  ...(details === undefined ? {} : { details }),
})

export const anInstant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
export const anHttpDate = expect.stringMatching(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/)
export const anId = expect.stringMatching(/^[\w-]{16,}$/)
