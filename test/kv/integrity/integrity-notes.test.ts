/** Notes beside the metadata file: what several write at once, and what is set while another is being cleared. */
import { mkdtemp, rm } from 'node:fs/promises'
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
