/** What commands change in the placement and the metadata themselves is written down, by name and with what they changed. */
import { readFile, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { runHere } from './command-here.ts'
import { keyVariables } from './holdfast-process.ts'
import { LocationsWorld, safe, small, three } from './locations-world.ts'

const { place, configure, serving } = new LocationsWorld('placement-audit')

const command = (...words: string[]) => runHere([...words, '--config', place.path('holdfast.toml')], keyVariables)

const entries = async (path: string): Promise<unknown[]> =>
  (await readFile(path, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

const isDone = { code: 0 }

test('a store that is replaced or claimed, and metadata that is restored or recovered, each leave an entry; what is refused leaves none', async () => {
  const log = place.path('audit.jsonl')
  await configure(`${three}${safe}[audit]\nfile = ${JSON.stringify(log)}\n`)
  await serving(async (client) => {
    await client.makeBucket('safe')
    await client.put('key', small(1))
  })
  await rm(log, { force: true })
  expect(await command('locations', 'replace', 'disk1')).toMatchObject({ code: 1 })
  await rm(place.path('disk1'), { recursive: true })
  expect(await command('locations', 'replace', 'disk1', '--force')).toMatchObject(isDone)
  expect(await command('locations', 'claim', 'disk2')).toMatchObject(isDone)
  const backup = place.path('metadata.backup')
  expect(await command('backup', backup)).toMatchObject(isDone)
  await rm(place.path('data'), { recursive: true })
  expect(await command('restore', backup)).toMatchObject(isDone)
  expect(await command('restore', backup)).toMatchObject({ code: 1 })
  await rm(place.path('data'), { recursive: true })
  expect(await command('recover')).toMatchObject(isDone)

  const port = 'command'
  expect(await entries(log)).toMatchObject([
    { port, operation: 'ReplaceStore', target: { store: 'disk1' } },
    { port, operation: 'ClaimStore', target: { store: 'disk2' } },
    { port, operation: 'RestoreMetadata', target: { backup } },
    { port, operation: 'RecoverMetadata', target: {} },
  ])
})

test('a log inside the data directory does not keep metadata from being restored into it', async () => {
  const log = place.path('data', 'audit.jsonl')
  await configure(`${three}${safe}[audit]\nfile = ${JSON.stringify(log)}\n`)
  await serving((client) => client.makeBucket('safe'))
  const backup = place.path('metadata.backup')
  expect(await command('backup', backup)).toMatchObject(isDone)
  await rm(dirname(log), { recursive: true })
  expect(await command('restore', backup)).toMatchObject(isDone)
  expect(await entries(log)).toMatchObject([{ operation: 'RestoreMetadata' }])
})
