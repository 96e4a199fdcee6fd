import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import {
  DataDirectoryRefused,
  markMetadata,
  markOwnMetadata,
  metadataIdOf,
  prepareDataDirectory,
  prepareHostDirectory,
} from '../../src/instance/data-directory.ts'
import { keptRootKey } from '../../src/instance/root-key.ts'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-data-'))
})
afterEach(() => rm(root, { recursive: true, force: true }))

const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8)

describe('the data directory of a server over PostgreSQL', () => {
  const path = (): string => join(root, 'host')
  const marker = async (): Promise<unknown> => JSON.parse(await readFile(join(path(), 'holdfast.json'), 'utf8'))

  test('has a marker of its own, which names the metadata once it is known', async () => {
    await prepareHostDirectory(path(), { create: true })
    expect(await marker()).toEqual({ layout: 2, metadata: 'postgres' })
    expect(await metadataIdOf(path())).toBeUndefined()
    await markMetadata(path(), 'ab12')
    await prepareHostDirectory(path(), { create: true })
    expect([await marker(), await metadataIdOf(path())]).toEqual([
      { layout: 2, metadata: 'postgres', metadataId: 'ab12' },
      'ab12',
    ])
    expect((await readdir(path())).sort()).toEqual(['holdfast.json'])
  })

  test('is refused by a server with metadata of its own, and the other way round', async () => {
    await prepareHostDirectory(path(), { create: true })
    const refused = prepareDataDirectory(path(), { create: true })
    await expect(refused).rejects.toThrow('HOLDFAST_METADATA_URL')
    await markOwnMetadata(path())
    await expect(prepareHostDirectory(path(), { create: true })).rejects.toThrow('holdfast migrate')
    await expect(prepareDataDirectory(path(), { create: false })).resolves.toBeDefined()
  })

  test('is not made for a command', async () => {
    await prepareHostDirectory(path(), { create: false })
    await expect(stat(path())).rejects.toThrow('ENOENT')
  })
})

describe('a data directory', () => {
  test('is made with all directories above it, for its owner alone, and found again', async () => {
    const path = join(root, 'a', 'b')
    const made = await prepareDataDirectory(path, { create: true })
    expect([await modeOf(path), await modeOf(made.meta), await modeOf(join(path, 'holdfast.json'))]).toEqual([
      '700',
      '700',
      '600',
    ])
    expect(await prepareDataDirectory(path, { create: false })).toEqual(made)
  })

  test('may be an empty volume, a link to one, or one that another start is preparing', async () => {
    await mkdir(join(root, 'volume', 'lost+found'), { recursive: true })
    await symlink(join(root, 'volume'), join(root, 'link'))
    await expect(prepareDataDirectory(join(root, 'link'), { create: true })).resolves.toBeDefined()
    await mkdir(join(root, 'racing'))
    await writeFile(join(root, 'racing', 'holdfast.json.ab.unfinished'), '')
    await expect(prepareDataDirectory(join(root, 'racing'), { create: true })).resolves.toBeDefined()
  })

  test.each([
    ["it holds 'photo.jpg'", { 'photo.jpg': '' }],
    ['has layout 3; this version knows layouts 1 and 2', { 'holdfast.json': '{"layout":3}' }],
    ['holdfast.json is not readable', { 'holdfast.json': '{' }],
  ])('is refused and left alone: %s', async (message, files) => {
    for (const [name, text] of Object.entries(files)) await writeFile(join(root, name), text)
    const prepared = prepareDataDirectory(root, { create: true })
    await expect(prepared).rejects.toThrow(DataDirectoryRefused)
    await expect(prepared).rejects.toThrow(message)
    expect(await readdir(root)).toEqual(Object.keys(files))
  })

  test('is not made for a command that needs one', async () => {
    const path = join(root, 'none')
    await expect(prepareDataDirectory(path, { create: false })).rejects.toThrow(DataDirectoryRefused)
    expect(await readdir(root)).toEqual([])
  })

  test('is refused when it is a file', async () => {
    await writeFile(join(root, 'file'), '')
    await expect(prepareDataDirectory(join(root, 'file'), { create: true })).rejects.toThrow('is not a directory')
  })
})

describe('the key made at first start', () => {
  test('is random, kept with mode 0600, and the same at the next start', async () => {
    const file = join(root, 'credentials.json')
    const made = await keptRootKey(file, systemClock)
    expect(made).toMatchObject({ generated: true, accessKeyId: expect.stringMatching(/^HF[A-Z2-7]{18}$/) })
    expect(made.secretAccessKey).toMatch(/^[A-Za-z0-9]{40}$/)
    expect(await modeOf(file)).toBe('600')
    expect(await keptRootKey(file, systemClock)).toEqual({ ...made, generated: false })
    expect((await keptRootKey(join(root, 'other.json'), systemClock)).secretAccessKey).not.toBe(made.secretAccessKey)
    expect(await readdir(root)).toEqual(['credentials.json', 'other.json'])
  })

  test('is tightened when its file was restored with a lax mode', async () => {
    const file = join(root, 'credentials.json')
    await writeFile(file, '{"accessKeyId":"abc","secretAccessKey":"12345678"}', { mode: 0o644 })
    await keptRootKey(file, systemClock)
    expect(await modeOf(file)).toBe('600')
  })

  test('is never made anew over a damaged file', async () => {
    const file = join(root, 'credentials.json')
    for (const text of ['', '{', '{}', '{"accessKeyId":"abc","secretAccessKey":"short"}']) {
      await writeFile(file, text)
      await expect(keptRootKey(file, systemClock)).rejects.toThrow(file)
    }
  })
})
