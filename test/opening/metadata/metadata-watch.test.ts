/** The watch over the metadata database: what health checks hear, and what the operator reads. */
import { expect, it } from 'vitest'
import { type Entry, KvUnavailable } from '../../../src/kv/kv.ts'
import { watchMetadata } from '../../../src/opening/metadata/metadata-watch.ts'

it('tells the operator once that the database is away, and once that it is back', async () => {
  const lines: string[] = []
  let isAway = false
  let asked = 0
  const get = async (): Promise<(Entry | undefined)[]> => {
    asked++
    if (isAway) throw new KvUnavailable('down', { cause: new Error('connect ECONNREFUSED 10.0.0.1:5432') })
    return [undefined]
  }
  const watch = watchMetadata({ get }, { warn: (line) => void lines.push(line) })
  const askedTwice = async (): Promise<void> => {
    const before = asked
    await expect.poll(() => asked).toBeGreaterThan(before + 1)
  }
  await askedTwice()
  expect([watch.answers(), lines]).toEqual([true, []])
  isAway = true
  await askedTwice()
  expect(watch.answers()).toBe(false)
  expect(lines).toEqual([expect.stringContaining('connect ECONNREFUSED 10.0.0.1:5432')])
  isAway = false
  await askedTwice()
  expect(watch.answers()).toBe(true)
  expect(lines.slice(1)).toEqual([expect.stringMatching(/^the metadata database answers again, after \d+ s$/)])
  isAway = true
  await watch.stop()
  const before = asked
  await new Promise((resolve) => setTimeout(resolve, 700))
  expect([asked, lines.length]).toEqual([before, 2])
})
