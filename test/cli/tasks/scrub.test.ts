/** `holdfast scrub` and `holdfast repair` as an operator meets them: with and without a server, and at a terminal. */
import { execFileSync, spawn } from 'node:child_process'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { keyVariables, main, run } from '../holdfast-process.ts'
import { bytes, clean, fill, holdAll, objects, ScrubWorld } from '../scrub-world.ts'

const world = new ScrubWorld('scrub')
const { place, serving, command, flipAll } = world

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
    const { stdout } = await run(['scrub', '--config', world.config], keyVariables).ended
    expect(stdout).toMatch(/^lost: piece 0 of metadata snapshot \w+$/m)
    expect(stdout).toContain(`in ${objects + 2} blobs, 2 of metadata snapshots: 2 damaged`)
  })

  test('of a stopped server does the same by itself, in the data directory too', async () => {
    await serving((s3) => fill(s3, 'default'))
    expect(await command('scrub')).toMatchObject({ code: 0, last: clean })
    await flipAll(join('data', 'store'))
    const { code, stdout } = await run(['scrub', '--config', world.config], keyVariables).ended
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
    const { code, stdout } = await run(['scrub', '--config', world.config], keyVariables).ended
    expect([code, stdout]).toEqual([1, expect.stringContaining(`${unreachable} not verified: a store is out of use`)])
    await serving(async () => {
      expect(await command('scrub')).toMatchObject({ code: 1, last: { state: 'done', unreachable } })
    })
    await rename(place.path('disk1.away'), place.path('disk1'))
    expect(await command('scrub')).toMatchObject({ code: 0, last: { ...clean, unreachable: 0 } })
  })

  test('refuses a rate that is none', async () => {
    const { code, stderr } = await run(['scrub', '--config', world.config, '--rate', 'fast'], keyVariables).ended
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
  await writeFile(world.config, (await readFile(world.config, 'utf8')).replace('copies = 2', 'copies = 3'))
  await serving(async () => {})
  await rename(place.path('disk3'), place.path('disk3.away'))
  await serving((s3) => fill(s3))
  expect(await command('repair')).toMatchObject({ code: 1, last: { state: 'done', degraded: objects, repaired: 0 } })
  const { code, stdout } = await run(['repair', '--config', world.config], keyVariables).ended
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
  const words = [process.execPath, main, ...command, '--config', world.config]
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
  const plain = await run(['scrub', '--config', world.config], keyVariables).ended
  expect(plain).toMatchObject({ code: 0, stderr: '' })
  expect(plain.stdout).toMatch(
    /^checked \d+ records of metadata: 0 damaged; 0 orphans in quarantine\nscrubbed 14\.1 MiB in 6 blobs: 0 damaged.*\n$/,
  )

  const shown = await atTerminal('scrub', '--rate', '8MiB')
  expect(shown).toMatch(/\rscrub {2}\[#+-+\] +\d+% {2}[\d.]+ \w+ of 14\.1 MiB {2}[\d.]+ MiB\/s {2}0:0\d left/)
  expect(shown).toMatch(/100% {2}14\.1 MiB of 14\.1 MiB/)
  // How much there is to clean up, nobody knows before.
  expect(await atTerminal('reclaim')).toMatch(/\rreclaim {2}\d+.*\r?\nreclaimed 0 bytes: 0 blobs removed/)
})
