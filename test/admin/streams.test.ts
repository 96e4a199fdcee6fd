/** Streams of events: they end when their reader may no longer see them, and nobody takes all of them. */
import { type ClientRequest, get as httpGet } from 'node:http'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { limits } from '../../src/limits.ts'
import { type SigningKey, sign } from '../support/signer.ts'
import { type AdminWorld, openAdminWorld, rootKey } from './admin-world.ts'

let world: AdminWorld
const open: ClientRequest[] = []
beforeEach(async () => {
  world = await openAdminWorld()
})
afterEach(async () => {
  vi.useRealTimers()
  for (const request of open.splice(0)) request.destroy()
  await world.close()
})

interface Stream {
  status: number
  /** Resolves when the server ends it. */
  ended: Promise<void>
}

/** A stream of tasks, which `by` has signed. */
function watch(by: SigningKey, token?: string): Promise<Stream> {
  const headers: [string, string][] = token === undefined ? [] : [['x-amz-security-token', token]]
  const signed = sign(
    { method: 'GET', path: '/v1/tasks/events', host: `127.0.0.1:${world.port}`, headers },
    { key: by },
  )
  return new Promise((resolve, reject) => {
    const { target: path } = signed
    const asked = {
      host: '127.0.0.1',
      port: world.port,
      path,
      headers: Object.fromEntries(signed.headers),
      agent: false,
    }
    const request = httpGet(asked, (reply) => {
      const ended = new Promise<void>((end) => void reply.on('close', end).resume())
      resolve({ status: reply.statusCode ?? 0, ended })
    })
    request.on('error', reject)
    open.push(request)
  })
}

const userKey = async (name: string): Promise<SigningKey> => {
  const { users, keys } = world.identities.verbs
  await users.create('main', { name })
  await users.attachPolicy('main', name, 'consoleAdmin')
  return keys.add({ accountId: 'main', user: name })
}

describe('a stream that a signature opened', () => {
  /** The server looks as often as time passes. */
  const beat = () => vi.advanceTimersByTimeAsync(limits.eventBeatMs)

  const changes: [string, (key: SigningKey) => Promise<unknown>][] = [
    ['loses its permission', () => world.identities.verbs.users.detachPolicy('main', 'ann', 'consoleAdmin')],
    ['is disabled', () => world.identities.verbs.users.setDisabled('main', 'ann', true)],
    ['gets another secret', ({ accessKeyId }) => world.identities.verbs.keys.rotate(accessKeyId)],
    ['has no key any more', ({ accessKeyId }) => world.identities.verbs.keys.remove(accessKeyId)],
  ]
  it.each(changes)('ends soon after its user %s', async (_, change) => {
    const key = await userKey('ann')
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const stream = await watch(key)
    const others = await watch(rootKey)
    let isOver = false
    void stream.ended.then(() => {
      isOver = true
    })
    await beat()
    await change(key)
    await beat()
    await expect.poll(() => isOver).toBe(true)
    expect(others.status).toBe(200)
  })

  it('goes on as long as temporary keys do', async () => {
    const session = await world.ask({
      method: 'POST',
      path: '/v1/session',
      by: 'nobody',
      input: { accessKeyId: rootKey.accessKeyId, secretAccessKey: rootKey.secretAccessKey },
    })
    const cookie = String(session.headers['set-cookie']).split(';')[0] ?? ''
    const plain = { cookie, 'x-csrf-token': String(session.json.csrfToken) }
    const { json } = await world.ask({ method: 'POST', path: '/v1/session/keys', by: 'nobody', plain })
    const key = { accessKeyId: String(json.accessKeyId), secretAccessKey: String(json.secretAccessKey) }
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] })
    const stream = await watch(key, String(json.sessionToken))
    let isOver = false
    void stream.ended.then(() => {
      isOver = true
    })
    for (let i = 0; i < 3; i++) {
      await beat()
      await world.ask({ method: 'GET', path: '/v1/server' })
    }
    expect(isOver).toBe(false)
    vi.setSystemTime(Date.now() + limits.pageKeysMs)
    await beat()
    await expect.poll(() => isOver).toBe(true)
  })
})

it('leaves room for others, however many one user opens', async () => {
  const greedy = await userKey('greedy')
  const opened: number[] = []
  for (let i = 0; i < limits.eventStreamsMax; i++) opened.push((await watch(greedy)).status)
  expect(opened.filter((status) => status === 200)).toHaveLength(limits.eventStreamsMax / 2)
  expect(opened.at(-1)).toBe(503)
  // Another key of the same user is the same user.
  const again = await world.identities.verbs.keys.add({ accountId: 'main', user: 'greedy' })
  expect((await watch(again)).status).toBe(503)
  expect((await watch(rootKey)).status).toBe(200)
})
