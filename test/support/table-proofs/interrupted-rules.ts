/** Proofs of what the interface document says of a completion that is slow, that loses to others, or that fails: each on a server of its own. */
import { expect } from 'vitest'
import type { Kv } from '../../../src/kv/kv.ts'
import { type Ask, openWire, type Wire } from '../wire-client.ts'
import { startWireServer } from '../wire-server.ts'
import { askSlowly, Gate, startSlowServer } from '../wire-slow.ts'
import { completeDocument, uploadOf } from '../wire-uploads.ts'
import { readXml } from '../wire-xml.ts'

async function completion(wire: Wire, etag?: string): Promise<Ask> {
  await wire.must({ method: 'PUT' })
  const { uploadId = '', etag1 = '' } = await uploadOf(wire, ['one'])
  return { method: 'POST', key: 'big', query: { uploadId }, body: completeDocument([[1, etag ?? etag1]]) }
}

async function onSlowServer({ style }: Wire, run: (wire: Wire, gate: Gate) => Promise<void>): Promise<void> {
  const gate = new Gate()
  const server = await startSlowServer(gate)
  const wire = openWire(server.port, style)
  await run(wire, gate)
  wire.close()
  await server.close()
}

/** A server whose commits `instead` answers while it gives something. */
async function onFailingServer(
  { style }: Wire,
  run: (wire: Wire, fail: (instead: (() => Promise<boolean>) | undefined) => void) => Promise<void>,
): Promise<void> {
  let failing: (() => Promise<boolean>) | undefined
  const over = (kv: Kv): Kv => ({
    integrity: kv.integrity,
    get: (keys) => kv.get(keys),
    range: (query) => kv.range(query),
    view: (keys, queries, read) => kv.view(keys, queries, read),
    commit: (commit) => (failing === undefined ? kv.commit(commit) : failing()),
    snapshot: () => kv.snapshot(),
    now: () => kv.now(),
    close: () => kv.close(),
  })
  const server = await startWireServer({ over: (backend) => ({ ...backend, kv: over(backend.kv) }) })
  const wire = openWire(server.port, style)
  await run(wire, (instead) => {
    failing = instead
  })
  wire.close()
  await server.close()
}

export const interruptedRules: Readonly<Record<string, (wire: Wire) => Promise<void>>> = {
  'CompleteMultipartUpload may take minutes: white space keeps the connection alive': (like) =>
    onSlowServer(like, async (wire, gate) => {
      const { status, early, whole } = await askSlowly(await completion(wire), wire, gate)
      expect(status).toBe(200)
      expect(early).toMatch(/^<\?xml [^>]*\?>\n +$/)
      expect(readXml(whole).root).toBe('CompleteMultipartUploadResult')
    }),
  '200 with an error in the body: CompleteMultipartUpload after its status was sent': (like) =>
    onSlowServer(like, async (wire, gate) => {
      const { status, whole } = await askSlowly(await completion(wire, '"other"'), wire, gate)
      expect(status).toBe(200)
      expect(readXml(whole)).toMatchObject({ root: 'Error', value: { Code: 'InvalidPart' } })
    }),
  '409: a conflict during a conditional CompleteMultipartUpload': (like) =>
    onFailingServer(like, async (wire, fail) => {
      const ask = await completion(wire)
      // As if others came between reading and writing, again and again.
      fail(async () => false)
      expect((await wire.ask({ ...ask, headers: { 'If-None-Match': '*' } })).status).toBe(409)
      fail(undefined)
      expect((await wire.ask({ method: 'HEAD', key: 'big' })).status).toBe(404)
    }),
  '500: a failed CompleteMultipartUpload, which can be repeated': (like) =>
    onFailingServer(like, async (wire, fail) => {
      const ask = await completion(wire)
      fail(() => Promise.reject(new Error('the disk is full of holes')))
      expect((await wire.ask(ask)).status).toBe(500)
      fail(undefined)
      await wire.must(ask)
      expect((await wire.must({ method: 'GET', key: 'big' })).body.toString()).toBe('one')
    }),
}
