import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadConfiguration } from '../../src/config/configuration.ts'
import { ConfigurationError } from '../../src/config/configuration-error.ts'
import { databaseName } from '../../src/config/metadata-options.ts'
import { options } from '../../src/config/options.ts'
import { configurationPage } from '../../src/config/page.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-metadata-options-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

let files = 0
async function metadataOf(environment: Record<string, string>, toml = '') {
  const file = join(directory, `${++files}.toml`)
  await writeFile(file, toml)
  return (await loadConfiguration({ environment, directory, flags: { config: [file] } })).metadata
}

const url = 'postgres://ann:canary-password@db.example:5432/holdfast'
const fromEnvironment = { HOLDFAST_METADATA_URL: url }

describe('where the metadata is', () => {
  test.each([
    ['in the data directory, when nothing is said', {}, '', undefined],
    ['in the data directory, when the file says so', {}, '[metadata]\ntype = "lmdb"', undefined],
    ['in the database of a variable alone', fromEnvironment, '', { url, connections: 10 }],
    [
      'in the database of the file',
      {},
      `[metadata]\ntype = "postgres"\nurl = "${url}"\nconnections = 20`,
      { url, connections: 20 },
    ],
    [
      "in the variable's, when the file names another",
      fromEnvironment,
      '[metadata]\ntype = "postgres"\nurl = "postgres://other"',
      { url, connections: 10 },
    ],
  ])('%s', async (_, environment, toml, expected) => {
    expect(await metadataOf(environment, toml)).toEqual(expected)
  })

  test.each([
    [
      'a type without a URL',
      {},
      '[metadata]\ntype = "postgres"',
      'set metadata.url in the file, or HOLDFAST_METADATA_URL',
    ],
    [
      'a URL beside another type',
      fromEnvironment,
      '[metadata]\ntype = "lmdb"',
      'metadata.type is lmdb, but HOLDFAST_METADATA_URL names',
    ],
    ['an unknown type', {}, '[metadata]\ntype = "mysql"', 'expects one of lmdb, postgres'],
    ['an unknown key', {}, `[metadata]\nuri = "${url}"`, "unknown key 'metadata.uri'"],
    [
      'a URL of something else',
      { HOLDFAST_METADATA_URL: url.replace('postgres', 'mysql') },
      '',
      'HOLDFAST_METADATA_URL: expects a URL',
    ],
    [
      'an unencoded slash in the password',
      { HOLDFAST_METADATA_URL: url.replace('canary', '1234/canary') },
      '',
      '%-codes',
    ],
    ['a list of URLs', {}, `[metadata]\nurl = ["${url}"]`, 'expects a string'],
    ['a file that breaks off in the URL', {}, `[metadata]\nurl = "${url}`, '.toml:2'],
    ['too few connections', fromEnvironment, '[metadata]\nconnections = 3', 'from 4 to 1000'],
  ])('is refused for %s, without the password', async (_, environment, toml, message) => {
    const error: unknown = await metadataOf(environment, toml).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ConfigurationError)
    expect(String(error)).toContain(message)
    expect(String(error)).not.toContain('canary')
  })

  test('can not be given on the command line, which other users see', () => {
    expect([options.metadataType.flag, options.metadataUrl.flag, options.metadataConnections.flag]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    expect(configurationPage()).toContain('`HOLDFAST_METADATA_URL`')
  })
})

test.each([
  [url, 'db.example:5432/holdfast'],
  ['postgres://ann:canary@a:5432,b:5433/holdfast?password=canary&sslmode=verify-full', 'a:5432,b:5433/holdfast'],
  ['postgresql://db', 'db'],
  ['postgres://[fd00::1]:5432/a', '[fd00::1]:5432/a'],
  ['postgres:///holdfast?host=/run/postgresql', '/holdfast'],
])('a database is named without its user, password and parameters: %s', (given, name) => {
  expect(databaseName(given)).toBe(name)
})
