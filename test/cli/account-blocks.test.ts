/** What an account blocks over real processes: whichever worker is asked, all of them know it once it is answered; and it is kept. */
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Ask, exchange, openWire, signAsk } from '../support/wire-client.ts'
import { openToAll } from '../support/wire-sites.ts'
import { environmentKey, killLeftovers, serve } from './holdfast-process.ts'

const style = { prefix: 'x-amz-', hosting: 'path' } as const
const ofMain = { account: 'main', vendor: { 'account-id': 'main' }, signedBy: environmentKey } as const
const restrict =
  '<PublicAccessBlockConfiguration><RestrictPublicBuckets>true</RestrictPublicBuckets></PublicAccessBlockConfiguration>'

let data: string
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'holdfast-blocks-'))
})
afterEach(async () => {
  await killLeftovers()
  await rm(data, { recursive: true, force: true, maxRetries: 20 })
})

const start = (...words: string[]) => serve(['serve', '--data', data, '--listen', '127.0.0.1:0', ...words])
type Running = Awaited<ReturnType<typeof start>>
const portOf = ({ ready }: Running): number => Number(new URL(ready.endpoint).port)

async function must(server: Running, ask: Ask): Promise<void> {
  const wire = openWire(portOf(server), style)
  await wire.must(ask)
  wire.close()
}

/** Of requests that nobody signed, each over a connection of its own, so that every worker gets some. */
async function statuses(server: Running): Promise<number[]> {
  const port = portOf(server)
  const ask = signAsk({ method: 'GET', bucket: 'wire', key: 'a', unsigned: true }, port, style)
  const replies = await Promise.all(
    Array.from({ length: 20 }, () => exchange(new Agent({ maxSockets: 1 }), port, ask).then(({ status }) => status)),
  )
  return [...new Set(replies)]
}

async function publish(server: Running): Promise<void> {
  const wire = openWire(portOf(server), style)
  const asOwner = { ...wire, must: (ask: Ask) => wire.must({ ...ask, signedBy: environmentKey }) }
  await asOwner.must({ method: 'PUT' })
  await asOwner.must({ method: 'PUT', key: 'a', body: 'public' })
  await openToAll(asOwner)
  wire.close()
}

test('all workers close what is public once the block is answered, and after a restart', async () => {
  const server = await start('--workers', '3')
  await publish(server)
  expect(await statuses(server)).toEqual([200])
  await must(server, { method: 'PUT', ...ofMain, body: restrict })
  expect(await statuses(server)).toEqual([403])
  server.child.kill('SIGTERM')
  await server.ended

  const again = await start('--workers', '2')
  expect(await statuses(again)).toEqual([403])
  await must(again, { method: 'DELETE', ...ofMain })
  expect(await statuses(again)).toEqual([200])
}, 60_000)

test('workers of a server that blocks what is public do so from the start', async () => {
  const open = await start()
  await publish(open)
  open.child.kill('SIGTERM')
  await open.ended
  const server = await start('--workers', '2', '--block-public')
  expect(await statuses(server)).toEqual([403])
}, 60_000)
