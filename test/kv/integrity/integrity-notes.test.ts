/** Notes beside the metadata file: what several write at once, and what is set while another is being cleared. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { IntegrityNotes } from '../../../src/kv/integrity/integrity-notes.ts'

let path: string
let notes: IntegrityNotes
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'holdfast-notes-'))
  notes = new IntegrityNotes(path)
})
afterEach(() => rm(path, { recursive: true }))

const damaged = (reason: string) => ({ state: 'damaged' as const, reason })

it('that are written at once are all written, and the last one stays', async () => {
  await Promise.all(Array.from({ length: 20 }, (_, i) => notes.setGuard(damaged(`${i}`))))
  expect(await notes.guard()).toMatchObject(damaged('19'))
})

it('a guard is cleared by whoever has seen it', async () => {
  await notes.setGuard(damaged('a page'))
  await notes.clearGuard(await notes.guardText())
  expect(notes.isGuarded()).toBe(false)
})

it.each([
  ['other', 'another page'],
  ['the same', 'a page'],
])('a guard that was set since for %s reason stays', async (_, reason) => {
  const none = await notes.guardText()
  await notes.setGuard(damaged('a page'))
  const seen = await notes.guardText()
  await notes.clearGuard(none)
  expect(notes.isGuarded()).toBe(true)
  await new IntegrityNotes(path).setGuard(damaged(reason))
  await notes.clearGuard(seen)
  expect(await notes.guard()).toMatchObject(damaged(reason))
})

it.each(['{', 'null', '{}', '{"state":"checking"}', '{"state":"damaged","reason":1}', '{"state":"later"}'])(
  'a guard that says %s counts as damage',
  async (text) => {
    await writeFile(join(path, 'guard.json'), text)
    expect(await notes.guard()).toMatchObject({ state: 'damaged', reason: expect.stringContaining('cannot be read') })
  },
)

it.each(['{', 'null', '{}', '{"startedMs":1,"entries":2,"coversBelow":3,"damagedRecords":0,"damagedKeys":"none"}'])(
  'a report of a check that says %s counts as none',
  async (text) => {
    await writeFile(join(path, 'checked.json'), text)
    expect(await notes.lastCheck()).toBeUndefined()
  },
)

it.each([{}, { damage: 'a page' }])('a report of a check is read as it was written, with %j', async (found) => {
  const report = { startedMs: 1, entries: 2, coversBelow: 3, damagedRecords: 1, damagedKeys: ['00'], ...found }
  await notes.setLastCheck(report)
  expect(await notes.lastCheck()).toEqual(report)
})
