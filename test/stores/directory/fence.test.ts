/** The numbers of a directory's maintainers: one that is too late changes nothing. */
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { type MaintenancePost, type ShardStore, StoreFenced } from '../../../src/stores/shard-store.ts'
import { patternBytes, seededRandom } from '../../support/seeded.ts'
import { claimantOf, ownedBy } from '../owners.ts'
import { heldPost } from '../posts.ts'
import type { SimulatedFs } from '../simulated-fs.ts'
import { listed, put } from '../suite.ts'
import { openStore, simulated, temporaryDirectory, tinySizes } from './opened-store.ts'
import { Turns, turnFs } from './turn-fs.ts'

const path = '/mnt/store'
const fences = (fs: SimulatedFs): Promise<string[]> =>
  fs.list(path).then((names) => names.filter((name) => name.startsWith('holdfast-fence.')))
const gone = 'f'.repeat(32)
const anew = (seed: number): string => seed.toString(16).padStart(32, '0')

/** One thing that jobs do. It changes some names under `pending/`. */
async function maintain(store: ShardStore, post: MaintenancePost, kind: number): Promise<void> {
  if (kind < 0.5) await store.closeAbandoned((member) => member === gone, post)
  else {
    const closed = (await store.unchecked()).filter((batch) => batch.closed)
    for (const { id } of closed.slice(0, 3)) await store.markChecked(id, post)
  }
}

describe('the maintainers of a directory', () => {
  test.each([1, 2, 3, 4, 5])(
    'never change anything under a lower number after a higher one: 2,000 hand-overs between two processes, seed %i',
    async (seed) => {
      const directory = await temporaryDirectory()
      const pending = join(directory.path, 'pending')
      const random = seededRandom(seed)
      const turns = new Turns(random)
      const taken: number[] = []
      const changed = (at: string): void => {
        const [, number] = /holdfast-fence\.[^/]*\.([0-9]+)\/\.\.\//.exec(at) ?? []
        if (number !== undefined) taken.push(Number(number))
        else if (at.includes('/pending/')) throw new Error(`${at} was changed without a number`)
      }
      const open = async () =>
        (await openStore({ path: directory.path, clock: simulated(seed).clock, fs: turnFs(turns, changed) })).store
      const stores = [await open(), await open()]
      const running = new Set<Promise<void>>()
      let refused = 0
      let planted = 0
      for (let number = 1; number <= 2000; number++) {
        for (let there = readdirSync(pending).length; there < 6; there++) {
          writeFileSync(join(pending, `files-${anew(++planted)}.open-${gone}`), '')
        }
        const store = stores[number % 2]
        if (store === undefined) throw new Error('there are two')
        for (let i = 0; i < 2; i++) {
          const call = maintain(store, heldPost(number), random())
            .catch((error: unknown) => {
              if (!(error instanceof StoreFenced)) throw error
              refused++
            })
            .finally(() => running.delete(call))
          running.add(call)
        }
        // The next maintainer comes while some of these calls are under way, usually after the first change.
        const patience = random() * 60
        for (let i = 0; i < patience && (taken.at(-1) !== number || random() < 0.5); i++) await turns.next()
        while (running.size > 8) await Promise.race(running)
      }
      await Promise.all(running)
      console.info(
        `seed ${seed}: ${taken.length} changes under ${new Set(taken).size} numbers, ${refused} calls refused`,
      )
      expect(taken).toEqual(taken.toSorted((a, b) => a - b))
      expect(new Set(taken).size).toBeGreaterThan(500)
      expect(refused).toBeGreaterThan(500)
      expect(readdirSync(directory.path).filter((name) => name.startsWith('holdfast-fence.'))).toEqual([
        'holdfast-fence..2000',
      ])
      for (const store of stores) await store.close()
      await directory.remove()
    },
  )

  const opened = async () => {
    const { fs, clock } = simulated(1)
    const { store } = await openStore({ path, clock, fs, ...tinySizes, ownership: ownedBy('one') })
    const ids = [await put(store, patternBytes(1, 1000)), await put(store, patternBytes(2, 10_000))]
    return { fs, clock, store, ids }
  }

  it('are refused once another has a greater number, whatever they do', async () => {
    const { fs, store, ids } = await opened()
    await store.delete([], heldPost(7))
    expect(await fences(fs)).toEqual(['holdfast-fence.one.7'])
    const before = fs.files()
    const late = heldPost(6)
    const [batch] = await store.unchecked()
    for (const work of [
      () => store.delete(ids, late),
      () => store.markChecked(batch?.id ?? '', late),
      () => store.closeAbandoned(() => true, late),
      () => store.compact({ graceMs: 0, move: async () => true }, late),
    ]) {
      await expect(work()).rejects.toThrow(StoreFenced)
    }
    expect(fs.files()).toEqual(before)
    expect(await listed(store)).toHaveLength(2)
    await store.delete(ids, heldPost(7))
    expect(await listed(store)).toEqual([])
  })

  it('leave their number to those who come after a crash, whenever it comes', async () => {
    for (let crashAt = 0; crashAt < 40; crashAt++) {
      const { fs, clock, store } = await opened()
      await store.delete([], heldPost(3))
      fs.crashAt = fs.calls.length + crashAt
      const isDone = await Promise.race([store.delete([], heldPost(5)).then(() => true), fs.crashed.then(() => false)])
      const after = fs.afterCrash({ random: seededRandom(crashAt) })
      const again = await openStore({ path, clock, fs: after, ...tinySizes, ownership: ownedBy('one') })
      for (const number of [2, ...(isDone ? [4] : [])]) {
        await expect(again.store.delete([], heldPost(number))).rejects.toThrow(StoreFenced)
      }
      await again.store.delete([], heldPost(5))
      expect(await fences(after)).toEqual(['holdfast-fence.one.5'])
      if (isDone) return
    }
    throw new Error('the hand-over never came to its end')
  })

  it('lose their post in the middle of their work, and nothing more is changed', async () => {
    const { fs, clock, store } = await opened()
    const other = await openStore({ path, clock, fs, ...tinySizes, ownership: ownedBy('one'), firstOpener: false })
    for (let i = 0; i < 60; i++) {
      await (await fs.open(`${path}/pending/files-${anew(i)}.open-${gone}`, 'create')).close()
    }
    let renamed = 0
    let after: string[] = []
    let takingOver: Promise<void> | undefined
    fs.fault = ({ name, path: at }) => {
      if (name === 'rename' && at.includes('/pending/') && ++renamed === 5) {
        takingOver = other.store.delete([], heldPost(2)).then(() => {
          after = fs.files()
        })
      }
      return undefined
    }
    await expect(store.closeAbandoned((member) => member === gone, heldPost(1))).rejects.toThrow(StoreFenced)
    await takingOver
    expect(fs.files()).toEqual(after)
    expect(after.filter((file) => file.endsWith(`.open-${gone}`)).length).toBeGreaterThan(30)
  })

  it('change nothing once their post may be another’s, by their own clock', async () => {
    const { fs, store, ids } = await opened()
    let calls = 0
    const ending: MaintenancePost = {
      number: 1,
      assertHeld: () => {
        if (++calls > 1) throw new Error('the lease is over')
      },
    }
    const before = fs.files()
    await expect(store.delete(ids, ending)).rejects.toThrow('the post is no longer held')
    expect(fs.files()).toEqual(before)
  })

  it('of other metadata, which the store has left behind, don’t count', async () => {
    const { fs, clock, store } = await opened()
    await store.delete([], heldPost(57))
    const heir = { claimant: async () => claimantOf('heir', ['1-h'], ['one']) }
    const inherited = await openStore({
      path,
      clock,
      fs,
      ...tinySizes,
      ownership: { ...heir, knows: store.storeId },
    })
    await inherited.store.delete([], heldPost(1))
    expect(await fences(fs)).toEqual(['holdfast-fence.heir.1'])
    await expect(store.delete([], heldPost(58))).rejects.toThrow('belongs to other metadata')
  })

  it('count from the start again when an operator claims the store for restored metadata', async () => {
    const { fs, clock, store } = await opened()
    await store.delete([], heldPost(57))
    const claiming = { ...ownedBy('one', ['1-b']), knows: store.storeId, takes: 'any' as const }
    const claimed = await openStore({ path, clock, fs, ...tinySizes, ownership: claiming })
    await claimed.store.delete([], heldPost(1))
    expect(await fences(fs)).toEqual(['holdfast-fence.one.1'])
  })

  it('work without a number on one machine, and then nothing is kept of one', async () => {
    const { fs, store, ids } = await opened()
    await store.delete(ids)
    expect(await fences(fs)).toEqual([])
    expect(fs.calls.filter(({ path: at }) => at.includes('fence'))).toEqual([])
  })
})
