/** Syncs of a directory that are asked for at the same time: each caller gets one that began after its entry was made, and a failure is final. */
import { beforeEach, expect, test } from 'vitest'
import { DirectorySync } from '../../../src/stores/directory/directory-sync.ts'
import { nodeFs } from '../../../src/stores/node-fs.ts'

/** Syncs that began and have not ended. */
let underWay: { path: string; end(error?: Error): void }[]
let begun: string[]
let fatal: Error[]
let directories: DirectorySync

beforeEach(() => {
  underWay = []
  begun = []
  fatal = []
  const syncDirectory = (path: string): Promise<void> =>
    new Promise((resolve, reject) => {
      begun.push(path)
      underWay.push({ path, end: (error) => (error === undefined ? resolve() : reject(error)) })
    })
  directories = new DirectorySync({ ...nodeFs, syncDirectory }, (error) => fatal.push(error))
})

const endNext = async (error?: Error): Promise<void> => {
  underWay.shift()?.end(error)
  await new Promise((resolve) => setImmediate(resolve))
}

test('who comes while a directory is being synced waits for the next sync, which all others share', async () => {
  const settled: string[] = []
  const ask = (name: string, path = '/a'): void => void directories.sync(path).then(() => settled.push(name))
  ask('first')
  ask('second')
  ask('third')
  ask('elsewhere', '/b')
  expect(begun).toEqual(['/a', '/b'])
  await endNext()
  expect(settled).toEqual(['first'])
  expect(begun).toEqual(['/a', '/b', '/a'])
  await endNext()
  expect(settled).toEqual(['first', 'elsewhere'])
  await endNext()
  expect(settled).toEqual(['first', 'elsewhere', 'second', 'third'])
  ask('later')
  expect(begun).toHaveLength(4)
})

test('after a failed sync nothing is promised any more, of any directory', async () => {
  const failed = directories.sync('/a')
  const next = directories.sync('/a')
  const outcomes = Promise.allSettled([failed, next])
  await endNext(Object.assign(new Error('by the test'), { code: 'EIO' }))
  // One that began all the same would end well.
  await endNext()
  for (const outcome of await outcomes) expect(outcome.status).toBe('rejected')
  expect(fatal).toHaveLength(1)
  await expect(directories.sync('/b')).rejects.toThrow('could not be synced')
  // The system would say of the next one that all is well.
  expect(begun).toEqual(['/a'])
  expect(() => directories.assertSound()).toThrow('could not be synced')
})

test('a directory that is gone, or a lack of descriptors, is an error of that call alone', async () => {
  for (const code of ['ENOENT', 'ESTALE', 'EMFILE']) {
    const failed = expect(directories.sync('/a')).rejects.toMatchObject({ code })
    await endNext(Object.assign(new Error('by the test'), { code }))
    await failed
  }
  expect(fatal).toEqual([])
  const after = directories.sync('/a')
  await endNext()
  await after
})
