/** The maintainer's post: one member holds it at a time, and nothing is committed under it that a later holder would not expect. */
import { beforeEach, expect, it } from 'vitest'
import { type Kv, KvUnavailable } from '../../src/kv/kv.ts'
import { listMembers } from '../../src/members/list-members.ts'
import type { Post } from '../../src/members/membership.ts'
import { keysOf, put } from '../kv/text-entries.ts'
import { describeOverEngines } from './engines.ts'
import { leaseMs, type TestProcess, World } from './world.ts'

describeOverEngines('the post of the maintainer', (open) => {
  let kv: Kv
  let world: World
  let one: TestProcess
  let other: TestProcess
  /** What happened, in order. */
  let story: string[]
  const posts = new Map<TestProcess, Post>()
  beforeEach(async () => {
    world = new World(await open())
    kv = world.kv
    one = await world.join('one')
    other = await world.join('other')
    story = []
    posts.clear()
  })

  function maintain(process: TestProcess, stop = async (): Promise<unknown> => undefined): () => Promise<void> {
    return process.membership.maintain(async (post) => {
      posts.set(process, post)
      story.push(`${process.name} starts ${post.number}`)
      return {
        stop: async () => {
          await stop()
          story.push(`${process.name} stops`)
        },
      }
    })
  }
  function postOf(process: TestProcess): Post {
    const post = posts.get(process)
    if (post === undefined) throw new Error(`${process.name} is not the maintainer`)
    return post
  }

  it('goes to one of several who want it at the same time, and stays there', async () => {
    maintain(one)
    maintain(other)
    await world.pass(10 * leaseMs)
    expect(story).toEqual([expect.stringMatching(/^(one|other) starts 1$/)])
    const [first] = posts.keys()
    expect((await listMembers(kv)).filter(({ maintainer }) => maintainer === 1).map(({ host }) => host)).toEqual([
      `host-${first?.name}`,
    ])
  })

  it('goes to the next at once when its holder leaves, which can still save its progress', async () => {
    maintain(one, () => postOf(one).kv.commit({ puts: [put('progress')] }))
    await world.idle()
    maintain(other)
    await world.pass(leaseMs)
    await one.membership.leave()
    await world.pass(leaseMs / 12)
    expect(story).toEqual(['one starts 1', 'one stops', 'other starts 2'])
    expect(await keysOf(kv)).toContain('progress')
    await expect(postOf(one).kv.commit({ puts: [put('late')] })).rejects.toThrow(KvUnavailable)
    expect(await postOf(other).kv.commit({ puts: [put('a')] })).toBe(true)
  })

  it('can be given up by a member that stays, and taken again', async () => {
    const giveUp = maintain(one)
    await world.idle()
    await giveUp()
    expect(() => postOf(one).assertHeld()).toThrow('no longer the maintainer')
    expect(await one.membership.kv.commit({ puts: [put('a')] })).toBe(true)
    maintain(one)
    await world.pass(leaseMs)
    expect(story).toEqual(['one starts 1', 'one stops', 'one starts 2'])
  })

  it('goes to another when its holder dies, within two leases', async () => {
    maintain(one)
    await world.idle()
    maintain(other)
    await world.pass(leaseMs)
    world.stop(one)
    await world.pass(2 * leaseMs)
    expect(story).toEqual(['one starts 1', 'other starts 2'])
    expect(() => postOf(one).assertHeld()).toThrow('could not renew its lease')
    await world.wake(one)
    expect(story).toEqual(['one starts 1', 'other starts 2', 'one stops'])
    expect(one.fatal).toHaveLength(1)
    expect(() => postOf(one).assertHeld()).toThrow('no longer the maintainer')
    await expect(postOf(one).kv.commit({ puts: [put('late')] })).rejects.toThrow(KvUnavailable)
    expect(() => postOf(other).assertHeld()).not.toThrow()
  })

  it('lets no commit through that its holder began before it was stopped', async () => {
    maintain(one)
    await world.idle()
    maintain(other)
    await world.pass(leaseMs)
    const send = world.stopInCommit(one)
    const written = postOf(one).kv.commit({ puts: [put('late')] })
    written.catch(() => {})
    await world.pass(3 * leaseMs)
    expect(story).toEqual(['one starts 1', 'other starts 2'])
    send()
    await expect(written).rejects.toThrow('declared this process gone')
    expect(await keysOf(kv)).not.toContain('late')
  })

  it('keeps its number through an outage of the database, and may not be used while it lasts', async () => {
    maintain(one)
    await world.idle()
    maintain(other)
    await world.pass(leaseMs)
    for (const { way } of world.processes) way.isCut = true
    await world.pass(10 * leaseMs)
    expect(() => postOf(one).assertHeld()).toThrow(KvUnavailable)
    for (const { way } of world.processes) way.isCut = false
    await world.pass(leaseMs)
    expect(() => postOf(one).assertHeld()).not.toThrow()
    expect(await postOf(one).kv.commit({ puts: [put('a')] })).toBe(true)
    expect(story).toEqual(['one starts 1'])
  })

  it('is given up by a member whose maintenance does not start, which tries again after a lease', async () => {
    let fails = true
    one.membership.maintain(async ({ number }) => {
      story.push(`one ${fails ? 'fails' : 'starts'} ${number}`)
      if (fails) throw new Error('no disk')
      return { stop: async () => {} }
    })
    await world.pass(leaseMs / 2)
    expect(story).toEqual(['one fails 1'])
    expect(one.warnings).toEqual(['the maintenance failed: no disk'])
    const giveUp = maintain(other)
    await world.idle()
    expect(story).toEqual(['one fails 1', 'other starts 2'])
    await giveUp()
    fails = false
    await world.pass(leaseMs)
    expect(story).toEqual(['one fails 1', 'other starts 2', 'other stops', 'one starts 3'])
  })
})
