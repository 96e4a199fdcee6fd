/** Temporary keys over real processes: every worker takes them, also after a restart and a new key in the ring. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { audience, startOidcIssuer } from '../support/oidc-issuer.ts'
import { readSts, type StsAsk, type StsReply, signedForSts, type TemporaryKey } from '../support/sts-world.ts'
import { exchange, signAsk } from '../support/wire-client.ts'
import { environmentKey, killLeftovers, run, serve } from './holdfast-process.ts'

const style = { prefix: 'x-amz-', hosting: 'path' } as const

let data: string
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'holdfast-temporary-keys-'))
})
afterEach(async () => {
  await killLeftovers()
  await rm(data, { recursive: true, force: true, maxRetries: 20 })
})

const start = (...words: string[]) =>
  serve(['serve', '--data', join(data, 'data'), '--listen', '127.0.0.1:0', '--workers', '2', ...words])

type Server = Awaited<ReturnType<typeof start>>

const portOf = ({ ready }: Server): number => Number(new URL(ready.endpoint).port)

async function stop(server: Server): Promise<void> {
  server.child.kill('SIGTERM')
  expect(await server.ended).toMatchObject({ code: 0 })
}

/** Each by a connection of its own, so that both workers are asked. */
async function askSts(server: Server, parameters: Record<string, string>, ask: StsAsk = {}): Promise<StsReply> {
  const agent = new Agent()
  const signed = signedForSts(portOf(server), parameters, { key: environmentKey, ...ask })
  const reply = readSts(await exchange(agent, portOf(server), signed))
  agent.destroy()
  return reply
}

async function statuses(server: Server, { sessionToken, ...signedBy }: TemporaryKey): Promise<number[]> {
  const found = new Set<number>()
  for (let i = 0; i < 8; i++) {
    const agent = new Agent()
    const ask = { method: 'GET', bucket: '', signedBy, vendor: { 'security-token': sessionToken } } as const
    found.add((await exchange(agent, portOf(server), signAsk(ask, portOf(server), style))).status)
    agent.destroy()
  }
  return [...found]
}

test('every worker takes what another made, after a restart and with a new key in the ring as well', async () => {
  const server = await start()
  const made = (await askSts(server, { Action: 'GetSessionToken' })).key()
  expect(await statuses(server, made)).toEqual([200])
  await stop(server)
  const again = await start()
  expect(await statuses(again, made)).toEqual([200])
  const rotated = run(['keys', '--data', join(data, 'data'), '--rotate', 'sse-s3'])
  expect(await rotated.ended).toMatchObject({ code: 0 })
  expect(await statuses(again, made)).toEqual([200])
  const newer = (await askSts(again, { Action: 'GetSessionToken' })).key()
  const keyId = ({ sessionToken }: TemporaryKey): string => Buffer.from(sessionToken, 'base64url').toString('hex', 1, 9)
  expect(keyId(newer)).not.toBe(keyId(made))
  expect(await statuses(again, newer)).toEqual([200])
  await stop(again)
})

test('every worker trusts the issuer of the file, as long as it is there', async () => {
  const issuer = await startOidcIssuer()
  try {
    issuer.claims = { policy: ['readwrite'] }
    const file = join(data, 'holdfast.toml')
    await writeFile(file, `[access.oidc]\nissuer = "${issuer.url}"\nclientId = "${audience}"\n`)
    const server = await start('--config', file)
    const exchanged = { Action: 'AssumeRoleWithWebIdentity', WebIdentityToken: await issuer.token('ann') }
    const replies = [1, 2, 3, 4].map(() => askSts(server, exchanged, { unsigned: true }))
    expect((await Promise.all(replies)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const key = (await askSts(server, exchanged, { unsigned: true })).key()
    expect(await statuses(server, key)).toEqual([200])
    await stop(server)
    const without = await start()
    expect(await statuses(without, key)).toEqual([403])
    expect((await askSts(without, exchanged, { unsigned: true })).text('Code')).toBe('InvalidIdentityToken')
    await stop(without)
  } finally {
    await issuer.close()
  }
})
