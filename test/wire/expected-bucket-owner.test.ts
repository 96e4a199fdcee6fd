/** Every operation on a bucket is refused when the bucket is not whose the client believes it to be, and takes a requester who pays. */
import { describe, expect, it } from 'vitest'
import { operations } from '../../src/operations/table.ts'
import { operationsWith, ownersRows } from '../support/table-rows.ts'
import { inTurn } from '../support/turns.ts'
import { asks } from '../support/wire-asks.ts'
import { type Ask, styleName, styles } from '../support/wire-client.ts'
import { matrixServer, preparedWire } from '../support/wire-matrix.ts'

const names = operationsWith(ownersRows[0])
const copies = ['CopyObject', 'UploadPartCopy']

const matrix = matrixServer()

it('is about all operations on buckets and objects, but the one before which a bucket has no owner', () => {
  const inBuckets = operations.filter(({ implemented, target }) => implemented && ['bucket', 'object'].includes(target))
  const others = inBuckets.filter(({ name }) => !names.includes(name))
  expect(others.map(({ name }) => name)).toEqual(['CreateBucket'])
  expect(operationsWith(ownersRows[1])).toEqual(names)
})

describe.each(styles.map((style) => [styleName(style), style] as const))('%s', (_, style) => {
  const prepared = preparedWire(matrix, style)
  const changes = (): Promise<string[]> => prepared().state.changes()

  /** Status and code, the code from the log, as HEAD has no body. */
  async function answerTo(name: string, vendor: Record<string, string>, over: Partial<Ask> = {}) {
    const { wire, open } = prepared()
    const ask = asks(open)[name]
    if (ask === undefined) throw new Error(`no request of ${name}`)
    const reply = await wire.ask({ ...ask, ...over, vendor: { ...ask.vendor, ...vendor } })
    const { code, operation } = await matrix().server.logged(reply.headers.get(`${style.prefix}request-id`) ?? '')
    expect(operation).toBe(name)
    return { status: reply.status, code, succeeds: { status: ask.succeeds, code: ask.code ?? '' } }
  }

  const denied = expect.objectContaining({ status: 403, code: 'AccessDenied' })

  /** Each rule of an operation in one style, and another rule in the next. */
  const namesFor = (rule: number): readonly string[] => inTurn(names, styles, style, rule)

  it.each(namesFor(0))('%s is refused when the bucket is said to be of another account', async (name) => {
    for (const other of ['other', 'nobody', 'Main', ''])
      expect(await answerTo(name, { 'expected-bucket-owner': other }), `said to be of '${other}'`).toEqual(denied)
    for (const condition of ['If-Match', 'If-None-Match']) {
      const headers = { ...asks(prepared().open)[name]?.headers, [condition]: '"x"' }
      expect(await answerTo(name, { 'expected-bucket-owner': 'other' }, { headers })).toEqual(denied)
    }
    expect(await changes()).toEqual([])
  })

  it.each(namesFor(1))('%s is refused so by a URL too', async (name) => {
    const answer = await answerTo(name, { 'expected-bucket-owner': 'other' }, { presigned: true })
    expect(answer).toEqual(denied)
    expect(await changes()).toEqual([])
  })

  it.each(namesFor(2))('%s is answered when the bucket is the owner’s, and the requester pays', async (name) => {
    const vendor = { 'expected-bucket-owner': 'main', 'request-payer': 'requester' }
    const { status, code, succeeds } = await answerTo(name, vendor)
    expect({ status, code }).toEqual(succeeds)
  })

  it.each(namesFor(3))('%s is refused when anyone else is to pay', async (name) => {
    expect(await answerTo(name, { 'request-payer': 'owner' })).toMatchObject({ status: 400, code: 'InvalidArgument' })
    expect(await changes()).toEqual([])
  })

  it.each(copies)('%s is refused when its source is said to be of another account', async (name) => {
    for (const other of ['other', ''])
      expect(await answerTo(name, { 'source-expected-bucket-owner': other })).toEqual(denied)
    expect(await changes()).toEqual([])
    expect(await answerTo(name, { 'source-expected-bucket-owner': 'main' })).toMatchObject({ status: 200 })
  })
})
