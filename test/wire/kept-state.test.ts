/** That the suites which compare what is stored see every kind of change, and begin again where they began. */
import { beforeAll, expect, it } from 'vitest'
import { type KeptAsks, keepAsks, nothingChanged } from '../support/wire-asks.ts'
import type { Ask } from '../support/wire-client.ts'
import { wireServer, wireTo } from '../support/wire-fixture.ts'

const server = wireServer()
const wire = wireTo(server)
let kept: KeptAsks
beforeAll(async () => {
  kept = await keepAsks(server, wire)
})

it.each<[what: string, ask: Ask]>([
  ['a new object', { method: 'PUT', key: 'new', body: 'x' }],
  ['an object with other data', { method: 'PUT', key: 'a', body: 'new' }],
  ['an object that is gone', { method: 'DELETE', key: 'a' }],
  ['other tags of an object', { method: 'DELETE', key: 'a', query: { tagging: '' } }],
  ['a new bucket', { method: 'PUT', bucket: 'another' }],
  ['a bucket that is gone', { method: 'DELETE', bucket: 'empty' }],
  ['another setting of a bucket', { method: 'DELETE', bucket: 'encrypted', query: { cors: '' } }],
  ['a new upload', { method: 'POST', key: 'a', query: { uploads: '' } }],
  ['another block of the account', { method: 'DELETE', account: 'main', vendor: { 'account-id': 'main' } }],
])('%s is a change, which is taken back', async (_, ask) => {
  expect(await kept.state.changes()).toEqual([])
  await wire.must(ask)
  expect(await kept.state.changes()).not.toEqual([])
  await kept.state.restore()
  expect(await kept.state.changes()).toEqual([])
  await nothingChanged(wire, kept.open)
})

it('an upload that was aborted is open again', async () => {
  const { uploadId } = kept.open
  const abort = { method: 'DELETE', key: 'big', query: { uploadId } } as const
  for (const _ of '12') {
    await wire.must(abort)
    expect((await wire.ask(abort)).status).toBe(404)
    await kept.state.restore()
    await nothingChanged(wire, kept.open)
  }
})
