/** The copy from one engine to another, and what stays behind. */
import { expect, it } from 'vitest'
import { unfinishedKey } from '../../../src/instance/unfinished-metadata.ts'
import type { Key, Kv } from '../../../src/kv/kv.ts'
import { memoryKv } from '../../../src/kv/memory.ts'
import { packKey } from '../../../src/kv/ordered-key.ts'
import { fenceOf, postRecord } from '../../../src/members/member-records.ts'
import { compareMetadata, copyMetadata, emptyMetadata } from '../../../src/opening/moving/metadata-copy.ts'
import { changedInDatabase } from '../../../src/opening/moving/moved-records.ts'

const did = (): void => {}
const keyOf = (number: number): Key => packKey('c', 'bucket', String(number).padStart(6, '0'))

async function filled(numbers: Iterable<number>, value = 'x'): Promise<Kv> {
  const kv = memoryKv()
  await kv.commit({ puts: [...numbers].map((number) => ({ key: keyOf(number), value: Buffer.from(value + number) })) })
  return kv
}

const span = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i)
const contents = async (kv: Kv): Promise<string[]> => {
  const found = await kv.range({ start: Buffer.alloc(0), end: Buffer.from([0xff]), limit: 1_000_000 })
  return found.map(({ key, value }) => `${key.toString('latin1')}=${value.toString('latin1')}`)
}

it.each([
  ['an empty target', span(0, 4_500), []],
  ['a part of the copy', span(0, 4_500), span(0, 2_345)],
  ['what lies between and behind the entries', span(1_000, 2_000), span(0, 9_000)],
  ['every other entry', span(0, 3_000).filter((number) => number % 2 === 0), span(0, 3_000).filter((n) => n % 2 === 1)],
  ['everything, when the source is empty', [], span(0, 2_500)],
])('makes the target equal to the source, over %s', async (_, there, here) => {
  const source = await filled(there)
  const target = await filled(here)
  await copyMetadata({ source, target, changed: [], did })
  expect(await contents(target)).toEqual(await contents(source))
  expect(await compareMetadata({ source, target, changed: [], did })).toEqual({ entries: there.length, differing: 0 })
})

it('finds one entry that differs, one that is missing, and one too many', async () => {
  const source = await filled(span(0, 3_000))
  const target = await filled(span(0, 3_000))
  await target.commit({
    puts: [
      { key: keyOf(17), value: Buffer.from('other') },
      { key: keyOf(9_999), value: Buffer.from('more') },
    ],
    deletes: [keyOf(2_000)],
  })
  expect(await compareMetadata({ source, target, changed: [], did })).toEqual({ entries: 3_000, differing: 3 })
})

it('leaves what belongs to one side where it is', async () => {
  const source = await filled([1])
  const target = await filled([])
  const put = (key: Key, text: string) => ({ key, value: Buffer.from(text) })
  await source.commit({ puts: [put(unfinishedKey, 'source'), put(fenceOf('a').key, 'a')] })
  await target.commit({ puts: [put(unfinishedKey, 'target'), put(fenceOf('b').key, 'b')] })
  await copyMetadata({ source, target, changed: [], did })
  const [mark, a, b] = await target.get([unfinishedKey, fenceOf('a').key, fenceOf('b').key])
  expect([mark?.value.toString(), a, b?.value.toString()]).toEqual(['target', undefined, 'b'])
  await emptyMetadata(target)
  expect((await contents(target)).length).toBe(2)
})

it('copies the number of the maintainer, but not its holder', async () => {
  const source = await filled([1])
  await source.commit({ puts: [{ key: postRecord.key, value: postRecord.seal({ number: 41, member: 'gone' }) }] })
  const target = await filled([])
  await copyMetadata({ source, target, changed: await changedInDatabase(source, undefined), did })
  const [post] = await target.get([postRecord.key])
  expect(post && postRecord.open(post.value)).toEqual({ number: 41, member: null })
})
