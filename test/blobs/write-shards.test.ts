/** Shards written side by side: those that come after nobody waits for them any more do not stay. */
import { expect, it } from 'vitest'
import { type Member, memberOf } from '../../src/blobs/member.ts'
import { gather, ShardWriting } from '../../src/blobs/write-shards.ts'
import { bytesSource } from '../../src/byte-source.ts'
import { memoryShardStore } from '../../src/stores/memory.ts'
import type { ShardStore } from '../../src/stores/shard-store.ts'
import { seededClock, seededRandom } from '../support/seeded.ts'

const clock = seededClock(seededRandom(1))
const bytes = Buffer.from('bytes')

const putTo = ({ store }: Member) => store.put({ payload: bytesSource(bytes), describe: () => Buffer.alloc(0) })

async function shardsIn(store: ShardStore): Promise<number> {
  let count = 0
  for await (const _ of store.list()) count++
  return count
}

it('a shard that is durable after it was given up is removed', async () => {
  const [quick, slow] = [memoryShardStore({ clock }), memoryShardStore({ clock })]
  let letGo = (): void => {}
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const writes = [quick, slow].map(
    (store, at) =>
      new ShardWriting(
        memberOf(store),
        at,
        async (member) => {
          if (store === slow) await held
          return putTo(member)
        },
        () => undefined,
      ),
  )
  const written = await gather(writes, { least: 1, stallMs: 1 })
  expect(written).toMatchObject([{ at: 0 }])
  letGo()
  await writes[1]?.done
  await expect.poll(() => shardsIn(slow)).toBe(0)
  expect(await shardsIn(quick)).toBe(1)
})
