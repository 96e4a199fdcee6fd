/** `holdfast scrub` and `holdfast repair` as an operator meets them: beside a server and without one, cut off in the middle, at a terminal. */
import { execFileSync, spawn } from 'node:child_process'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { beforeEach, describe, expect, test } from 'vitest'
import { patternBytes } from '../support/seeded.ts'
import { keyVariables, main, type Outcome, run, serve } from './holdfast-process.ts'
import { openWorkplace, testClient } from './workplace.ts'

const place = openWorkplace('scrub')
let config: string

beforeEach(async () => {
  config = place.path('holdfast.toml')
  const disks = ['disk1', 'disk2', 'disk3'].map((name) => `[stores.${name}]\ntype = "directory"\npath = "${name}"\n`)
  await writeFile(
    config,
    `data = "data"\nlisten = "127.0.0.1:0"\n${disks.join('')}[locations.safe]\nscheme = "replica"\ncopies = 2\nstores = ["disk1", "disk2", "disk3"]\n[snapshots]\ninterval = "never"\n`,
  )
})

const bytes = 300 * 1024
const objects = 6
const body = (i: number): Buffer => patternBytes(i, bytes)

async function serving(use: (s3: S3Client, server: Awaited<ReturnType<typeof serve>>) => Promise<void>): Promise<void> {
  const server = await serve(['serve', '--config', config])
  const s3 = testClient(server.ready.endpoint)
  try {
    await use(s3, server)
  } finally {
    s3.destroy()
    server.child.kill('SIGTERM')
  }
  await server.ended
}

async function fill(s3: S3Client, location: 'safe' | 'default' = 'safe'): Promise<void> {
  await s3.send(
    new CreateBucketCommand({
      Bucket: 'bucket',
      ...(location === 'safe' ? { CreateBucketConfiguration: { LocationConstraint: 'safe' as 'eu-west-1' } } : {}),
    }),
  )
  for (let i = 0; i < objects; i++) {
    await s3.send(new PutObjectCommand({ Bucket: 'bucket', Key: `key-${i}`, Body: body(i) }))
  }
}

async function holdAll(s3: S3Client): Promise<void> {
  for (let i = 0; i < objects; i++) {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: 'bucket', Key: `key-${i}` }))
    expect(Buffer.from((await Body?.transformToByteArray()) ?? []).equals(body(i))).toBe(true)
  }
}

/** A bit of every large shard of a store. Resolves with how many there are. */
async function flipAll(store: string): Promise<number> {
  const found = await readdir(place.path(store, 'files'), { recursive: true, withFileTypes: true })
  const files = found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  for (const file of files) {
    const content = await readFile(file)
    content[200_000] = (content[200_000] ?? 0) ^ 1
    await writeFile(file, content, { flag: 'r+' })
  }
  return files.length
}

interface Event {
  event: string
  [name: string]: unknown
}
const start = (...words: string[]) => run([...words, '--config', config, '--json'], keyVariables)
const eventsOf = ({ stdout }: Outcome): Event[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Event)
async function command(...words: string[]): Promise<{ code: number | null; events: Event[]; last: Event | undefined }> {
  const outcome = await start(...words).ended
  const events = eventsOf(outcome)
  return { code: outcome.code, events, last: events.at(-1) }
}
/** Snapshots of the metadata are made only when a test asks for them. */
const clean = { event: 'scrubbed', state: 'done', damaged: 0, repaired: 0, lost: 0, degraded: 0, checked: objects }

describe('a scrub', () => {
  test('beside a running server has it repair what no read has touched, and names what is lost', async () => {
    await serving(async (s3) => {
      await fill(s3)
      const damaged = await flipAll('disk1')
      expect(damaged).toBeGreaterThan(0)
      expect(await command('scrub')).toMatchObject({ code: 0, last: { ...clean, damaged, repaired: damaged } })
      expect(await command('scrub')).toMatchObject({ code: 0, last: clean })
      await holdAll(s3)

      for (const name of ['disk1', 'disk2', 'disk3']) await flipAll(name)
      const { code, last, events } = await command('scrub')
      expect([code, last]).toEqual([1, expect.objectContaining({ damaged: objects, lost: objects })])
      const lost = events.filter(({ event }) => event === 'lost').map(({ bucket, key }) => `${bucket}/${key}`)
      expect(lost.sort()).toEqual(Array.from({ length: objects }, (_, i) => `bucket/key-${i}`))
      const { last: status } = await command('locations', 'status')
      expect(status).toMatchObject({ locations: [{}, { name: 'safe', degradedBlobs: 0, lostBlobs: objects }] })
      // Flipped back: nothing had been thrown away.
      for (const name of ['disk1', 'disk2', 'disk3']) await flipAll(name)
      expect(await command('scrub')).toMatchObject({ code: 0, last: clean })
      expect((await command('locations', 'status')).last).toMatchObject({ locations: [{}, { lostBlobs: 0 }] })
      await holdAll(s3)
    })
  })

  test('names what is lost of the snapshots of metadata, too', async () => {
    await serving(async (s3) => {
      await fill(s3, 'default')
      expect(await command('backup', '--on-stores')).toMatchObject({ code: 0 })
    })
    const withPieces = { ...clean, checked: objects + 2, snapshotPieces: 2 }
    expect(await command('scrub')).toMatchObject({ code: 0, last: withPieces })
    for (const name of ['disk1', 'disk2', 'disk3']) {
      const segments = place.path(name, 'segments')
      for (const segment of await readdir(segments)) await rm(join(segments, segment))
    }
    const { code, last, events } = await command('scrub')
    expect([code, last]).toEqual([1, expect.objectContaining({ ...withPieces, damaged: 2, lost: 2 })])
    const lost = { event: 'lost', snapshotId: expect.any(String), sinceMs: expect.any(Number) }
    expect(events.filter(({ event }) => event === 'lost')).toEqual([
      { ...lost, piece: 0 },
      { ...lost, piece: 1 },
    ])
    const { stdout } = await run(['scrub', '--config', config], keyVariables).ended
    expect(stdout).toMatch(/^lost: piece 0 of metadata snapshot \w+$/m)
    expect(stdout).toContain(`in ${objects + 2} blobs, 2 of metadata snapshots: 2 damaged`)
  })

  test('of a stopped server does the same by itself, in the data directory too', async () => {
    await serving((s3) => fill(s3, 'default'))
    expect(await command('scrub')).toMatchObject({ code: 0, last: clean })
    await flipAll(join('data', 'store'))
    const { code, stdout } = await run(['scrub', '--config', config], keyVariables).ended
    expect(code).toBe(1)
    expect(stdout).toContain('lost: bucket/key-0\n')
    expect(stdout).toContain(`6 damaged, 0 repaired, 0 to be repaired, ${objects} lost`)
  })

  test('says by its exit code that a store could not be asked, and that it is whole once it could', async () => {
    await serving((s3) => fill(s3))
    const away = async (): Promise<void> => rename(place.path('disk1'), place.path('disk1.away'))
    await away()
    const withoutServer = await command('scrub')
    expect(withoutServer).toMatchObject({ code: 1, last: { ...clean, unreachable: expect.any(Number) } })
    const unreachable = Number(withoutServer.last?.unreachable)
    expect(unreachable).toBeGreaterThan(0)
    const { code, stdout } = await run(['scrub', '--config', config], keyVariables).ended
    expect([code, stdout]).toEqual([1, expect.stringContaining(`${unreachable} not verified: a store is out of use`)])
    await serving(async () => {
      expect(await command('scrub')).toMatchObject({ code: 1, last: { state: 'done', unreachable } })
    })
    await rename(place.path('disk1.away'), place.path('disk1'))
    expect(await command('scrub')).toMatchObject({ code: 0, last: { ...clean, unreachable: 0 } })
  })

  test('that was killed goes on where it was, and begins anew when that is asked for', async () => {
    await serving((s3) => fill(s3))
    const first = start('scrub', '--rate', '1MiB')
    await first.line((line) => JSON.parse(line).counts?.checked >= 2)
    first.child.kill('SIGKILL')
    await first.ended
    for (const [words, fromStart] of [
      [[], false],
      [['--restart'], true],
    ] as const) {
      const next = start('scrub', '--rate', '1MiB', ...words)
      const { counts } = JSON.parse(await next.line((line) => line.includes('progress')))
      expect(counts.checked === undefined).toBe(fromStart)
      await next.line((line) => JSON.parse(line).counts?.checked >= 2)
      next.child.kill('SIGKILL')
      await next.ended
    }
    const last = await command('scrub', '--rate', 'unlimited')
    expect(last.events[0]).toMatchObject({ event: 'progress', task: 'scrub', total: 2 * objects * bytes })
    // Those that were checked before are not checked again, nor forgotten.
    expect(last.events[0]).toHaveProperty('counts.checked')
    expect(last).toMatchObject({ code: 0, last: { ...clean, bytes: 2 * objects * bytes } })
  })

  test('goes on by itself when the server that did it is killed', async () => {
    let scrub: ReturnType<typeof start> | undefined
    await serving(async (s3, server) => {
      await fill(s3)
      scrub = start('scrub', '--rate', '1MiB')
      await scrub.line((line) => JSON.parse(line).counts?.checked >= 2)
      server.child.kill('SIGKILL')
      await server.ended
    })
    const outcome = await scrub?.ended
    expect(outcome?.code).toBe(0)
    if (outcome !== undefined) expect(eventsOf(outcome).at(-1)).toMatchObject(clean)
  })

  test('gives way to a server that starts, which goes on with it', async () => {
    await serving((s3) => fill(s3))
    const scrub = start('scrub', '--rate', '50KiB')
    await scrub.line((line) => JSON.parse(line).done > 0)
    await serving(async () => {
      // At the first rate it would take longer than the server waits.
      expect(await command('scrub', '--rate', 'unlimited')).toMatchObject({ code: 0, last: clean })
      expect(await scrub.ended).toMatchObject({ code: 0 })
    })
  })

  test('can be cancelled', async () => {
    await serving(async (s3) => {
      await fill(s3)
      const scrub = start('scrub', '--rate', '100KiB')
      await scrub.line((line) => line.includes('progress'))
      expect(await command('scrub', '--cancel')).toMatchObject({ code: 0, last: { cancelled: true } })
      const outcome = await scrub.ended
      expect([outcome.code, eventsOf(outcome).at(-1)]).toEqual([1, expect.objectContaining({ state: 'cancelled' })])
      expect(await command('scrub', '--cancel')).toMatchObject({ code: 1, last: { cancelled: false } })
      expect(await command('scrub', '--rate', 'unlimited')).toMatchObject({ code: 0, last: clean })
    })
  })

  test('refuses a rate that is none', async () => {
    const { code, stderr } = await run(['scrub', '--config', config, '--rate', 'fast'], keyVariables).ended
    expect([code, stderr]).toEqual([2, expect.stringContaining('--rate: expects bytes a second such as')])
  })
})

test('repair beside a running server says how far it is', async () => {
  await serving(async (s3) => {
    await fill(s3)
    expect(await command('repair')).toMatchObject({ code: 0, last: { event: 'repaired', repaired: 0 } })
  })
  // Met by reads.
  const damaged = await flipAll('disk2')
  await serving(async (s3) => {
    for (let i = 0; i < 10; i++) await holdAll(s3)
  })
  const { code, last } = await command('repair')
  expect([code, last]).toEqual([
    0,
    expect.objectContaining({ state: 'done', repaired: damaged, bytes: damaged * bytes }),
  ])
  expect(await command('scrub')).toMatchObject({ code: 0, last: clean })
})

test('a repair says by its exit code that blobs still lack shards, and that some are lost', async () => {
  // Three copies, of which two acknowledge: one disk may be away.
  await writeFile(config, (await readFile(config, 'utf8')).replace('copies = 2', 'copies = 3'))
  await serving(async () => {})
  await rename(place.path('disk3'), place.path('disk3.away'))
  await serving((s3) => fill(s3))
  expect(await command('repair')).toMatchObject({ code: 1, last: { state: 'done', degraded: objects, repaired: 0 } })
  const { code, stdout } = await run(['repair', '--config', config], keyVariables).ended
  expect([code, stdout]).toEqual([1, expect.stringContaining(`0 repaired, ${objects} still lack shards, 0 lost`)])
  await rename(place.path('disk3.away'), place.path('disk3'))
  expect(await command('repair')).toMatchObject({ code: 0, last: { degraded: 0, repaired: objects } })

  for (const name of ['disk1', 'disk2', 'disk3']) await flipAll(name)
  expect(await command('scrub')).toMatchObject({ code: 1, last: { lost: objects } })
  expect(await command('repair')).toMatchObject({ code: 1, last: { degraded: 0, lost: objects } })
})

const hasPty = ((): boolean => {
  try {
    return execFileSync('script', ['--version']).includes('util-linux')
  } catch {
    return false
  }
})()

/** What the terminal of a command shows that ends well. */
async function atTerminal(...command: string[]): Promise<string> {
  const words = [process.execPath, main, ...command, '--config', config]
  const child = spawn('script', ['-qec', words.join(' '), '/dev/null'], {
    env: { PATH: process.env.PATH, ...keyVariables },
  })
  let shown = ''
  child.stdout.on('data', (chunk) => {
    shown += chunk
  })
  expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0)
  return shown
}

// Without it nothing here can open a terminal.
test.skipIf(!hasPty)('at a terminal a bar is drawn, and elsewhere none', async () => {
  await serving((s3) => fill(s3))
  const plain = await run(['scrub', '--config', config], keyVariables).ended
  expect(plain).toMatchObject({ code: 0, stderr: '' })
  expect(plain.stdout).toMatch(
    /^checked \d+ records of metadata: 0 damaged; 0 orphans in quarantine\nscrubbed 3\.5 MiB in 6 blobs: 0 damaged.*\n$/,
  )

  const shown = await atTerminal('scrub', '--rate', '2MiB')
  expect(shown).toMatch(/\rscrub {2}\[#+-+\] +\d+% {2}[\d.]+ \w+ of 3\.5 MiB {2}[\d.]+ MiB\/s {2}0:0\d left/)
  expect(shown).toMatch(/100% {2}3\.5 MiB of 3\.5 MiB/)
  // How much there is to clean up, nobody knows before.
  expect(await atTerminal('reclaim')).toMatch(/\rreclaim {2}\d+.*\r?\nreclaimed 0 bytes: 0 blobs removed/)
})
