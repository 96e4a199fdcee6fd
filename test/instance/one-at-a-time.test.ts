/** Only one member at a time makes what the first start on shared metadata makes. */
import { expect, it } from 'vitest'
import { type SettlingMember, settlingAlone } from '../../src/instance/one-at-a-time.ts'
import { KvUnavailable } from '../../src/kv/kv.ts'
import { memoryKv } from '../../src/kv/memory.ts'

const kv = memoryKv()
const gone = new Set<string>()
const member = (id: string): SettlingMember => ({ id, kv, isGone: async (other) => gone.has(other) })

it('lets one member at a time settle, however many begin at once', async () => {
  let inside = 0
  let most = 0
  const settle = async (id: string): Promise<string> => {
    most = Math.max(most, ++inside)
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
    inside--
    return id
  }
  const ids = ['a', 'b', 'c', 'd']
  const settled = await Promise.all(ids.map((id) => settlingAlone(member(id), () => settle(id))))
  expect([settled, most]).toEqual([ids, 1])
})

it('lets the next one begin when one fails, and takes over from one that is gone', async () => {
  const failing = settlingAlone(member('a'), async () => {
    throw new KvUnavailable('away')
  })
  await expect(failing).rejects.toThrow('away')
  let end: () => void = () => {}
  const stuck = settlingAlone(
    member('dead'),
    () =>
      new Promise<void>((resolve) => {
        end = resolve
      }),
  )
  let isSettled = false
  const waiting = settlingAlone(member('b'), async () => {
    isSettled = true
  })
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(isSettled).toBe(false)
  gone.add('dead')
  await waiting
  expect(isSettled).toBe(true)
  end()
  await stuck
})
