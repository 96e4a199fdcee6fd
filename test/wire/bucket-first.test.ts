/** Where a header or a body is wrong, an operation answers NoSuchBucket if there is no bucket, as S3 does, and AccessDenied if it is not the asker's. */
import { describe, expect, it, vi } from 'vitest'
import type { Backend } from '../../src/commits/backend.ts'
import { operations } from '../../src/operations/table.ts'
import { CountingKv } from '../support/counting-kv.ts'
import { asks, type OpenUpload, prepareAsks } from '../support/wire-asks.ts'
import { type Ask, openWire, type Style, styleName, styles, type Wire } from '../support/wire-client.ts'
import { wireServer, wireTo } from '../support/wire-fixture.ts'
import { deletingKey, otherKey } from '../support/wire-server.ts'

/** CreateBucket makes its bucket, and ListBuckets has none. */
const withBucket = operations.filter(
  ({ implemented, target, name }) =>
    implemented && (target === 'bucket' || target === 'object') && name !== 'CreateBucket',
)

/** Of records that were asked for alone, as the bucket's is where something is wrong. */
let lookups = (): number => 0
const counting = (backend: Backend): Backend => {
  // Beside the metadata itself, at which the server looks now and then for other things than requests.
  const kv = new CountingKv(backend.kv)
  const { mock } = vi.spyOn(kv, 'get')
  lookups = () => mock.calls.filter(([keys]) => keys.length === 1).length
  return { ...backend, kv }
}

const server = wireServer()
const counted = wireServer({ over: counting })

async function codeOf(wire: Wire, ask: Ask, { prefix }: Style): Promise<string> {
  const reply = await wire.ask(ask)
  return (await server.logged(reply.headers.get(`${prefix}request-id`) ?? '')).code
}

describe.each(styles.map((style) => [styleName(style), style] as const))('%s', (_, style) => {
  let open: OpenUpload
  const wire = wireTo(server, style, async (wire) => {
    await server.empty()
    open = await prepareAsks(wire)
  })

  /** A digest that is none is wrong in any request. */
  const wrong = (name: string, more: Partial<Ask> = {}): Ask => {
    const ask = asks(open)[name]
    if (ask === undefined) throw new Error(`no request of ${name}`)
    return { ...ask, ...more, headers: { ...ask.headers, 'Content-MD5': 'x' } }
  }

  it.each(withBucket.map(({ name, authentication }) => [name, authentication] as const))(
    '%s',
    async (name, authentication) => {
      expect(await codeOf(wire, wrong(name), style)).toBe('InvalidDigest')
      expect(await codeOf(wire, wrong(name, { bucket: 'nowhere' }), style)).toBe('NoSuchBucket')
      expect(await codeOf(wire, wrong(name, { signedBy: otherKey }), style)).toBe('AccessDenied')
      if (name.startsWith('DeleteObject')) return
      expect(await codeOf(wire, wrong(name, { signedBy: deletingKey }), style)).toBe('AccessDenied')
      // As in S3: that there is no bucket is no secret to anybody who has a key, and one to all others.
      expect(await codeOf(wire, wrong(name, { bucket: 'nowhere', signedBy: deletingKey }), style)).toBe('NoSuchBucket')
      // Of a form the signature is in the body: test/wire/form-post.test.ts.
      if (authentication === 'form') return
      for (const bucket of ['wire', 'nowhere'])
        expect(await codeOf(wire, wrong(name, { bucket, unsigned: true }), style)).toBe('AccessDenied')
    },
  )

  it.each<[what: string, code: string, ask: Ask]>([
    ['a document that is none', 'MalformedXML', { method: 'PUT', query: { tagging: '' }, body: 'x' }],
    ['no document', 'MissingRequestBodyError', { method: 'PUT', query: { tagging: '' } }],
    ['no document to complete', 'NoSuchUpload', { method: 'POST', key: 'a', query: { uploadId: 'x' } }],
    ['no digest', 'InvalidRequest', { method: 'POST', query: { delete: '' }, body: '<Delete/>' }],
    ['a parameter', 'InvalidArgument', { method: 'GET', query: { 'max-keys': 'x' } }],
    ['a version', 'InvalidArgument', { method: 'GET', key: 'a', query: { versionId: 'x' } }],
    ['tags', 'InvalidArgument', { method: 'PUT', key: 'a', body: 'x', vendor: { tagging: 'a=1&a=2' } }],
    ['a copy source', 'InvalidArgument', { method: 'PUT', key: 'a', vendor: { 'copy-source': 'x' } }],
  ])('%s that is wrong: %s, or NoSuchBucket', async (_what, code, ask) => {
    expect(await codeOf(wire, ask, style)).toBe(code)
    expect(await codeOf(wire, { ...ask, bucket: 'nowhere' }, style)).toBe('NoSuchBucket')
  })

  it('is no reason to look up the bucket where nothing is wrong', async () => {
    const other = openWire(counted.port, style)
    await counted.empty()
    await other.must({ method: 'PUT' })
    await other.must({ method: 'PUT', key: 'a', body: 'x' })
    const before = lookups()
    await other.must({ method: 'GET', key: 'a' })
    await other.must({ method: 'GET' })
    expect(lookups() - before).toBe(0)
    await other.ask({ method: 'GET', key: 'a', headers: { 'Content-MD5': 'x' } })
    expect(lookups() - before).toBe(1)
    other.close()
  })
})

it('every operation with a bucket says that it may not be there', () => {
  expect(withBucket.filter(({ errors }) => !errors.includes('NoSuchBucket')).map(({ name }) => name)).toEqual([])
})
