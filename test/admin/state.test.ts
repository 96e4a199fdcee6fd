/** What the admin port says about the server's state: buckets with usage, stores, tasks, configuration, log level, requests, its own interface. */
import { get as httpGet } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { adminOperations } from '../../src/admin/table.ts'
import { createBucket } from '../../src/objects/buckets.ts'
import { sign } from '../support/signer.ts'
import { type AdminWorld, openAdminWorld, rootKey } from './admin-world.ts'
import { putVersions } from './filled-bucket.ts'

let world: AdminWorld
beforeAll(async () => {
  world = await openAdminWorld()
})
afterAll(() => world.close())

const get = async (path: string, query: [string, string][] = []) => {
  const { status, json } = await world.ask({ method: 'GET', path, query })
  expect([path, status, json.message]).toEqual([path, 200, undefined])
  return json
}

async function makeBucket(name: string, owner: string): Promise<void> {
  const locationConstraint = undefined
  await createBucket(world.backend, { name, owner, locationConstraint, location: 'default', objectLock: undefined })
}

const queryOf = (path: string): [string, string][] =>
  path.includes('?') ? [...new URLSearchParams(path.slice(path.indexOf('?')))] : []

/** Reads events until `enough` holds for one of them. */
function eventsUntil(path: string, enough: (event: Record<string, unknown>) => boolean): Promise<unknown> {
  const host = `127.0.0.1:${world.port}`
  const { headers } = sign(
    { method: 'GET', path: path.split('?')[0] ?? '', query: queryOf(path), host },
    { key: rootKey },
  )
  return new Promise((resolve, reject) => {
    const sent = httpGet(
      { host: '127.0.0.1', port: world.port, path, headers: Object.fromEntries(headers) },
      (reply) => {
        let text = ''
        expect([reply.statusCode, reply.headers['content-type']]).toEqual([200, 'text/event-stream'])
        reply.setEncoding('utf8').on('data', (chunk) => {
          text += chunk
          for (const line of text.split('\n\n').slice(0, -1)) {
            const event = line.startsWith('data: ') ? JSON.parse(line.slice(6)) : {}
            if (!enough(event)) continue
            resolve(event)
            sent.destroy()
          }
        })
      },
    )
    sent.on('error', (error) => reject(error))
  })
}

describe('buckets', () => {
  it('are listed with what they hold, versions and delete markers apart', async () => {
    await makeBucket('counted', 'main')
    await putVersions(world.backend, 'counted')
    const listed = async () => {
      const { buckets } = await get('/v1/buckets')
      return (buckets as { name: string; usage?: object }[]).find(({ name }) => name === 'counted')
    }
    await expect.poll(async () => (await listed())?.usage !== undefined).toBe(true)
    expect(await listed()).toMatchObject({
      owner: 'main',
      location: 'default',
      versioning: 'enabled',
      objectLock: false,
      moving: false,
      usage: { objects: 2, versions: 4, deleteMarkers: 1, bytes: 27, currentBytes: 20, measured: expect.any(String) },
    })
  })

  it('are counted again when the count is old', async () => {
    await makeBucket('growing', 'main')
    const objects = async () => {
      const { buckets } = await get('/v1/buckets')
      const found = (buckets as { name: string; usage?: { objects: number } }[]).find(({ name }) => name === 'growing')
      return found?.usage?.objects
    }
    await expect.poll(objects).toBe(0)
    await putVersions(world.backend, 'growing')
    expect(await objects()).toBe(0)
    world.advance(61_000)
    await expect.poll(objects).toBe(2)
    // A task of a minute ahead would wait for the jobs' clock, which has not moved.
    world.advance(-61_000)
  })

  it('of one account are for that account', async () => {
    await world.identities.verbs.accounts.create({ id: 'owner' })
    await makeBucket('theirs', 'owner')
    const by = await world.identities.verbs.keys.add({ accountId: 'owner' })
    const { json } = await world.ask({ method: 'GET', path: '/v1/accounts/owner/buckets', by })
    expect((json.buckets as { name: string }[]).map(({ name }) => name)).toEqual(['theirs'])
    const other = await world.ask({ method: 'GET', path: '/v1/accounts/main/buckets', by })
    expect(other.json.code).toBe('AccessDenied')
    expect((await world.ask({ method: 'GET', path: '/v1/accounts/none/buckets' })).status).toBe(404)
  })
})

it('shows locations with the health of their stores', async () => {
  const { health, locations } = await get('/v1/locations')
  expect([health, locations]).toEqual([
    'OK',
    [
      expect.objectContaining({
        name: 'default',
        isDefault: true,
        health: 'OK',
        degradedBlobs: 0,
        stores: [expect.objectContaining({ state: 'up' })],
      }),
    ],
  ])
})

it('says how many shards of a location each store holds', async () => {
  await makeBucket('sharded', 'main')
  await putVersions(world.backend, 'sharded')
  const shards = async () => {
    const { locations } = await get('/v1/locations')
    return (locations as { stores: { shards?: { count: number; bytes: number } }[] }[])[0]?.stores[0]?.shards
  }
  await expect.poll(async () => (await shards())?.count ?? 0).toBeGreaterThanOrEqual(4)
  expect(await shards()).toEqual({ count: expect.any(Number), bytes: expect.any(Number), measured: expect.any(String) })
})

describe('a task', () => {
  const start = (input: object) => world.ask({ method: 'POST', path: '/v1/tasks', input })

  it('that was started is watched to its end', async () => {
    const watched = eventsUntil('/v1/tasks/events', ({ tasks = [] }) =>
      (tasks as { kind: string; state: string }[]).some(({ kind, state }) => kind === 'repair' && state === 'done'),
    )
    const { status, json } = await start({ kind: 'repair' })
    expect([status, json.kind, json.name]).toEqual([201, 'repair', ''])
    await watched
  })

  it('runs the background jobs on request', async () => {
    await start({ kind: 'reclaim' })
    const event = await eventsUntil('/v1/tasks/events', ({ tasks = [] }) =>
      (tasks as { kind: string; state: string }[]).some(({ kind, state }) => kind === 'reclaim' && state === 'done'),
    )
    expect(event).toMatchObject({ tasks: expect.arrayContaining([expect.objectContaining({ kind: 'reclaim' })]) })
  })

  it.each([
    [{ kind: 'move', bucket: 'counted' }, 409, 'Refused'],
    [{ kind: 'move', bucket: 'none', to: 'default' }, 404, 'NoSuchBucket'],
    [{ kind: 'move', bucket: 'counted', to: 'nowhere' }, 409, 'Refused'],
    [{ kind: 'scrub', bucket: 'counted' }, 409, 'Refused'],
    [{ kind: 'repair', restart: true }, 409, 'Refused'],
    [{ kind: 'bake' }, 400, 'InvalidArgument'],
  ])('that makes no sense is refused: %j', async (input, status, code) => {
    const reply = await start(input)
    expect([reply.status, reply.json.code]).toEqual([status, code])
  })
})

it('changes the log level at once', async () => {
  const set = (level: string) => world.ask({ method: 'PUT', path: '/v1/log/level', input: { level } })
  expect((await set('error')).json).toEqual({ level: 'error' })
  const before = world.log().length
  await get('/v1/server')
  expect(world.log().length).toBe(before)
  await set('debug')
  await get('/v1/server')
  expect(world.log().slice(before)).toContain('GetServerInfo')
  expect((await set('loud')).json.code).toBe('InvalidArgument')
})

describe('requests', () => {
  const line = (requestId: string, status = 200) => ({
    requestId,
    operation: 'GetObject',
    method: 'GET',
    path: '/b/<script>',
    status,
    code: '',
    bytesIn: 0,
    bytesOut: 1,
    durationMs: 1,
    firstByteMs: 1,
    account: 'main',
    remote: '192.0.2.1',
    accessKeyId: 'k',
    error: new Error('a stack that nobody should see'),
  })

  it('are listed, the newest first, without the stacks of errors', async () => {
    for (let i = 0; i < 200; i++) world.requests.saw(line(`id-${i}`))
    world.advance(1)
    world.requests.saw(line('newest'))
    const { requests } = await get('/v1/requests')
    const ids = (requests as { requestId: string }[]).map(({ requestId }) => requestId)
    expect([ids[0], ids.length]).toEqual(['newest', 128])
    expect(JSON.stringify(requests)).not.toContain('stack')
  })

  it('are streamed as they come, or only those that failed', async () => {
    const all = eventsUntil('/v1/requests/events', ({ requests = [] }) =>
      (requests as { requestId: string }[]).some(({ requestId }) => requestId === 'live-good'),
    )
    const failed = eventsUntil('/v1/requests/events?failed=true', ({ requests = [] }) => {
      const ids = (requests as { requestId: string }[]).map(({ requestId }) => requestId)
      expect(ids).not.toContain('live-good')
      return ids.includes('live-bad')
    })
    const timer = setInterval(() => {
      world.requests.saw(line('live-good'))
      world.requests.saw(line('live-bad', 404))
    }, 5)
    await Promise.all([all, failed]).finally(() => clearInterval(timer))
  })
})

it('describes itself as OpenAPI, every operation with its schemas', async () => {
  const { json, status } = await world.ask({ method: 'GET', path: '/openapi.json', by: 'nobody' })
  expect([status, json.openapi]).toEqual([200, '3.1.0'])
  const paths = json.paths as Record<string, Record<string, { operationId: string }>>
  const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId))
  expect(ids.sort()).toEqual(adminOperations.map(({ name }) => name).sort())
  const references = JSON.stringify(json).match(/"\$ref":"[^"]*"/g) ?? []
  expect(new Set(references)).toEqual(new Set(['"$ref":"#/components/schemas/Error"']))
})
