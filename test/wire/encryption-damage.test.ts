/** What does not open is never answered as if it had: an error while nothing was sent, a broken connection when something was. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Backend } from '../../src/commits/backend.ts'
import { SegmentDamaged } from '../../src/encryption/segments.ts'
import { objectKey, partKey } from '../../src/records/keyspace.ts'
import { objectCodec, partCodec } from '../../src/records/record-codecs.ts'
import type { ObjectRecord, PartRecord } from '../../src/records/records.ts'
import { openWire, type Wire } from '../support/wire-client.ts'
import { encryptedModes, sealedBody } from '../support/wire-encryption.ts'
import { startWireServer, type WireServer } from '../support/wire-server.ts'
import { beginUpload, completeDocument, partOf, putPart, textIn } from '../support/wire-uploads.ts'

let backend: Backend
let server: WireServer
let wire: Wire

beforeAll(async () => {
  server = await startWireServer({
    over: (opened) => {
      backend = opened
      return opened
    },
  })
  wire = openWire(server.port, { prefix: 'x-amz-', hosting: 'path' })
  await wire.must({ method: 'PUT' })
})
afterAll(async () => {
  wire.close()
  await server.close()
})

interface Codec<T> {
  encode(key: Buffer, record: T): Buffer
  decode(key: Buffer, bytes: Buffer): T
}

/** Makes the record at `to` that of `from`, as far as `taken` says. */
async function take<T>(codec: Codec<T>, from: Buffer, to: Buffer, taken: (from: T) => Partial<T>): Promise<void> {
  const [source, target] = await backend.kv.get([from, to])
  if (source === undefined || target === undefined) throw new Error('there is no such record')
  const record = { ...codec.decode(to, target.value), ...taken(codec.decode(from, source.value)) }
  await backend.kv.commit({ puts: [{ key: to, value: codec.encode(to, record) }] })
}

describe.each(encryptedModes)('$name', ({ write, read }) => {
  it("another object's bytes end in an error, and none of them is sent", async () => {
    await wire.must({ method: 'PUT', key: 'a', body: sealedBody, vendor: write })
    await wire.must({ method: 'PUT', key: 'b', body: Buffer.from(sealedBody).reverse(), vendor: write })
    const [from, to] = [objectKey('wire', 'b'), objectKey('wire', 'a')]
    await take<ObjectRecord>(objectCodec, from, to, ({ data }) => ({ data }))
    const before = server.unexpected.length
    const reply = await wire.ask({ method: 'GET', key: 'a', vendor: read })
    expect([reply.status, textIn(reply, 'Code')]).toEqual([500, 'InternalError'])
    expect(server.unexpected.slice(before)).toEqual([expect.any(SegmentDamaged)])

    const copy = { 'copy-source': '/wire/a', ...asSource(read) }
    const copied = await wire.ask({ method: 'PUT', key: 'copy', vendor: copy })
    expect(textIn(copied, 'Code')).toBe('InternalError')
    expect((await wire.ask({ method: 'HEAD', key: 'copy' })).status).toBe(404)
  })

  it('a part that is not the one which was sent breaks the connection', async () => {
    const parts = [partOf(1), partOf(2, 1000)]
    const ids: string[] = []
    for (const key of ['big', 'other']) {
      const id = await beginUpload(wire, write, key)
      const etags: string[] = []
      for (const [i, part] of parts.entries()) etags.push(await putPart(wire, id, i + 1, part, read, key))
      const body = completeDocument(etags.map((etag, i) => [i + 1, etag]))
      await wire.must({ method: 'POST', key, query: { uploadId: id }, body })
      ids.push(id)
    }
    const [mine = '', others = ''] = ids
    await take<PartRecord>(partCodec, partKey(others, 2), partKey(mine, 2), (part) => part)
    await expect(wire.ask({ method: 'GET', key: 'big', vendor: read })).rejects.toThrow()
    const first = await wire.must({ method: 'GET', key: 'big', query: { partNumber: '1' }, vendor: read })
    expect(first.body.equals(parts[0] as Buffer)).toBe(true)
  })
})

const asSource = (read: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(read).map(([name, value]) => [`copy-source-${name}`, value]))
