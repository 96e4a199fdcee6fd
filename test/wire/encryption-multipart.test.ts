/** Uploads that are encrypted: every part under the upload's key, ranges and parts across it, and copies into and out of it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { md5Base64, multipartEtag } from '../support/wire-checksums.ts'
import type { Reply, Wire } from '../support/wire-client.ts'
import {
  customerHeaders,
  customerMode,
  encryptedModes,
  sourceHeaders,
  storeHeaders,
  unencrypted,
  type VendorHeaders,
  type WireMode,
  wireModes,
} from '../support/wire-encryption.ts'
import { wireServer, wireTo } from '../support/wire-fixture.ts'
import { kmsKeyHeader } from '../support/wire-rows.ts'
import { beginUpload, completeDocument, partOf, putPart, textIn } from '../support/wire-uploads.ts'

const key = 'big'
const parts = [partOf(1), partOf(2, 70_000)]
const whole = Buffer.concat(parts)
const border = parts[0]?.length ?? 0

const server = wireServer()

describe.each(['x-amz-', 'x-store-'] as const)('%s', (prefix) => {
  const wire = wireTo(server, { prefix, hosting: 'path' })
  beforeEach(() => wire.must({ method: 'PUT' }))
  afterEach(() => server.empty())

  /** What an answer says of encryption, in the terms of the modes. */
  function told({ headers }: Reply): VendorHeaders {
    const found: VendorHeaders = {}
    for (const [name, value] of headers) {
      if (!name.startsWith(`${prefix}server-side-encryption`)) continue
      const rest = name.slice(prefix.length)
      found[rest === kmsKeyHeader(prefix) ? '{{kmsKeyId}}' : rest] = value
    }
    return found
  }

  const codeOf = async (asked: Parameters<Wire['ask']>[0]): Promise<string> => {
    const reply = await wire.ask(asked)
    return reply.status < 300 ? String(reply.status) : textIn(reply, 'Code')
  }

  async function uploaded(mode: WireMode): Promise<{ uploadId: string; reply: Reply }> {
    const uploadId = await beginUpload(wire, mode.write)
    const etags = [
      await putPart(wire, uploadId, 1, parts[0] ?? '', mode.read),
      await putPart(wire, uploadId, 2, parts[1] ?? '', mode.read),
    ]
    const body = completeDocument(etags.map((etag, i) => [i + 1, etag]))
    return { uploadId, reply: await wire.must({ method: 'POST', key, query: { uploadId }, body }) }
  }

  describe.each(encryptedModes)('$name', (mode) => {
    it('is answered by each step, and gives back the whole, any range and any part', async () => {
      const begun = await wire.must({ method: 'POST', key, query: { uploads: '' }, vendor: mode.write })
      expect(told(begun)).toEqual({ ...mode.answer, ...mode.answerOfWrite })
      const uploadId = textIn(begun, 'UploadId')
      const send = (partNumber: number, body: Buffer): Promise<Reply> =>
        wire.must({
          method: 'PUT',
          key,
          query: { partNumber: String(partNumber), uploadId },
          vendor: mode.read,
          headers: { 'Content-MD5': md5Base64(body) },
          body,
        })
      await send(1, parts[1] as Buffer)
      const sent = [await send(1, parts[0] as Buffer), await send(2, parts[1] as Buffer)]
      for (const reply of sent) expect(told(reply)).toEqual(mode.answer)
      const etags = sent.map(({ headers }) => headers.get('etag') ?? '')

      const listed = await wire.must({ method: 'GET', key, query: { uploadId } })
      for (const etag of etags)
        expect(listed.body.toString()).toContain(`<ETag>${etag.replaceAll('"', '&quot;')}</ETag>`)
      const body = completeDocument(etags.map((etag, i) => [i + 1, etag]))
      const completed = await wire.must({ method: 'POST', key, query: { uploadId }, body })
      expect(told(completed)).toEqual(mode === customerMode ? {} : mode.answer)
      const again = await wire.must({ method: 'POST', key, query: { uploadId }, body })
      expect([told(again), again.body]).toEqual([told(completed), completed.body])

      const read = (more: object = {}): Promise<Reply> => wire.must({ method: 'GET', key, vendor: mode.read, ...more })
      const got = await read()
      expect([got.body.equals(whole), told(got)]).toEqual([true, mode.answer])
      expect(got.headers.get('etag') === multipartEtag(parts)).toBe(mode.md5Etag)
      const head = await wire.must({ method: 'HEAD', key, vendor: mode.read })
      expect([told(head), head.headers.get('etag')]).toEqual([mode.answer, got.headers.get('etag')])
      for (const [start, end] of [
        [border - 1, border + 1],
        [65_519, 65_521],
        [border + 65_520, whole.length],
        [0, 1],
      ] as const) {
        const range = await read({ headers: { Range: `bytes=${start}-${end - 1}` } })
        expect(range.body.equals(whole.subarray(start, end)), `${start}-${end}`).toBe(true)
      }
      for (const [i, part] of parts.entries()) {
        const one = await read({ query: { partNumber: String(i + 1) } })
        expect([one.status, one.body.equals(part), told(one)]).toEqual([206, true, mode.answer])
      }
    })

    it('keeps no part whose digest of the plaintext is wrong', async () => {
      const uploadId = await beginUpload(wire, mode.write)
      const ask = { method: 'PUT', key, query: { partNumber: '1', uploadId }, vendor: mode.read, body: 'x' } as const
      expect(await codeOf({ ...ask, headers: { 'Content-MD5': md5Base64('y') } })).toBe('BadDigest')
      expect((await wire.must({ method: 'GET', key, query: { uploadId } })).body.toString()).not.toContain('<Part>')
    })
  })

  it('takes parts with the key that the upload began with, and with no other', async () => {
    const uploadId = await beginUpload(wire, customerMode.write)
    const query = { partNumber: '1', uploadId }
    const put = { method: 'PUT', key, query, body: 'x' } as const
    expect(await codeOf(put)).toBe('InvalidRequest')
    expect(await codeOf({ ...put, vendor: customerHeaders('other') })).toBe('InvalidRequest')
    expect(await codeOf({ ...put, vendor: customerHeaders('owner') })).toBe('200')
    await wire.must({ method: 'PUT', key: 'source', body: 'source' })
    const copy = { method: 'PUT', key, query } as const
    expect(await codeOf({ ...copy, vendor: { 'copy-source': '/wire/source' } })).toBe('InvalidRequest')

    const list = { method: 'GET', key, query: { uploadId } } as const
    expect(await codeOf({ ...list, vendor: customerHeaders('owner') })).toBe('200')
    expect(await codeOf({ ...list, vendor: customerHeaders('other') })).toBe('InvalidRequest')

    const etag = await putPart(wire, uploadId, 1, 'x', customerHeaders('owner'))
    const complete = { method: 'POST', key, query: { uploadId }, body: completeDocument([[1, etag]]) } as const
    expect(await codeOf({ ...complete, vendor: customerHeaders('other') })).toBe('InvalidRequest')
    expect(await codeOf({ ...complete, vendor: customerHeaders('owner') })).toBe('200')
  })

  it.each([...encryptedModes.filter((mode) => mode !== customerMode), unencrypted])(
    'takes no customer key for a part of an upload that has none: $name',
    async ({ write }) => {
      const uploadId = await beginUpload(wire, write)
      const part = { key, query: { partNumber: '1', uploadId }, vendor: customerHeaders('owner') }
      expect(await codeOf({ ...part, method: 'PUT', body: 'x' })).toBe('InvalidRequest')
      expect(await codeOf({ ...part, method: 'GET', query: { uploadId } })).toBe('InvalidRequest')
    },
  )

  const pairs = wireModes.flatMap((from) => wireModes.map((to) => ({ from, to })))

  it.each(pairs)('copies $from.name to $to.name, whole and into parts', async ({ from, to }) => {
    const sourceKey = from === customerMode ? sourceHeaders('owner') : {}
    const body = whole.subarray(border - 70_000)
    await wire.must({ method: 'PUT', key: 'source', body, vendor: from.write })
    const copySource = { 'copy-source': '/wire/source' }
    const copied = await wire.must({
      method: 'PUT',
      key: 'copy',
      vendor: { ...copySource, ...sourceKey, ...to.write },
    })
    expect(told(copied)).toEqual({ ...to.answer, ...to.answerOfWrite })
    expect((await wire.must({ method: 'GET', key: 'copy', vendor: to.read })).body.equals(body)).toBe(true)

    const uploadId = await beginUpload(wire, to.write)
    const part = await wire.must({
      method: 'PUT',
      key,
      query: { partNumber: '1', uploadId },
      vendor: { ...copySource, ...sourceKey, ...to.read, 'copy-source-range': 'bytes=65519-131040' },
    })
    expect(told(part)).toEqual(to.answer)
    const etag = textIn(part, 'ETag').replaceAll('&quot;', '"')
    await wire.must({ method: 'POST', key, query: { uploadId }, body: completeDocument([[1, etag]]) })
    const read = await wire.must({ method: 'GET', key, vendor: to.read })
    expect(read.body.equals(body.subarray(65_519, 131_041))).toBe(true)
  })

  it('copies what is in parts', async () => {
    await uploaded(customerMode)
    const vendor = { 'copy-source': `/wire/${key}`, ...sourceHeaders('owner'), ...storeHeaders }
    await wire.must({ method: 'PUT', key: 'copy', vendor })
    expect((await wire.must({ method: 'GET', key: 'copy' })).body.equals(whole)).toBe(true)
  })

  it('copies onto itself to encrypt, to change the key, and to encrypt no more by the client’s key', async () => {
    const copy = (vendor: VendorHeaders): Promise<Reply> =>
      wire.must({ method: 'PUT', key, vendor: { 'copy-source': `/wire/${key}`, ...vendor } })
    await wire.must({ method: 'PUT', key, body: whole, vendor: { 'meta-a': 'b' } })
    await copy(customerHeaders('owner'))
    expect(await codeOf({ method: 'GET', key })).toBe('InvalidRequest')
    await copy({ ...sourceHeaders('owner'), ...customerHeaders('other') })
    expect(await codeOf({ method: 'GET', key, vendor: customerHeaders('owner') })).toBe('AccessDenied')
    await copy({ ...sourceHeaders('other'), ...storeHeaders })
    const { body, headers } = await wire.must({ method: 'GET', key })
    expect([body.equals(whole), headers.get(`${prefix}meta-a`)]).toEqual([true, 'b'])
  })

  it('copies onto itself without a new key to encrypt no more at all, as minio-go does', async () => {
    await wire.must({ method: 'PUT', key, body: whole, vendor: customerHeaders('owner') })
    await wire.must({ method: 'PUT', key, vendor: { 'copy-source': `/wire/${key}`, ...sourceHeaders('owner') } })
    expect((await wire.must({ method: 'GET', key })).body.equals(whole)).toBe(true)
  })

  it('reads no source without its key, and asks no key for one that has none', async () => {
    await wire.must({ method: 'PUT', key: 'sealed', body: 'x', vendor: customerMode.write })
    await wire.must({ method: 'PUT', key: 'plain', body: 'x' })
    const uploadId = await beginUpload(wire)
    for (const target of [
      { method: 'PUT', key: 'copy' },
      { method: 'PUT', key, query: { partNumber: '1', uploadId } },
    ] as const) {
      const copy = (source: string, vendor: VendorHeaders): Promise<string> =>
        codeOf({ ...target, vendor: { 'copy-source': `/wire/${source}`, ...vendor } })
      expect(await copy('sealed', {})).toBe('InvalidRequest')
      expect(await copy('sealed', sourceHeaders('other'))).toBe('AccessDenied')
      expect(await copy('plain', sourceHeaders('owner'))).toBe('InvalidRequest')
      expect(await copy('sealed', sourceHeaders('owner'))).toBe('200')
    }
  })
})
