/** A `holdfast scrub` that is interrupted: it is killed, or its server is, or it is cancelled; also while a server starts. */
import { expect, test } from 'vitest'
import { bytes, clean, eventsOf, fill, objects, ScrubWorld } from './scrub-world.ts'

const { serving, start, command } = new ScrubWorld('scrub-interrupted')

test('a scrub that was killed goes on where it was, and begins anew when that is asked for', async () => {
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
  // Shards that were checked before are neither checked again nor forgotten.
  expect(last.events[0]).toHaveProperty('counts.checked')
  expect(last).toMatchObject({ code: 0, last: { ...clean, bytes: 2 * objects * bytes } })
})

test('a scrub goes on by itself when the server that did it is killed', async () => {
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

test('a scrub gives way to a server that starts, which goes on with it', async () => {
  await serving((s3) => fill(s3))
  const scrub = start('scrub', '--rate', '50KiB')
  await scrub.line((line) => JSON.parse(line).done > 0)
  await serving(async () => {
    // At the first rate, it would take longer than the server waits.
    expect(await command('scrub', '--rate', 'unlimited')).toMatchObject({ code: 0, last: clean })
    expect(await scrub.ended).toMatchObject({ code: 0 })
  })
})

test('a scrub can be cancelled', async () => {
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
