/** An engine whose commits go through a link keeps what engines promise, and both ends do what they must when the link or the other end is gone. */
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ProcessEnding } from '../../../src/errors.ts'
import { numberOfVersion } from '../../../src/kv/entry-version.ts'
import { versionsPerTransaction } from '../../../src/kv/integrity/lmdb-integrity.ts'
import { type Kv, KvUnavailable } from '../../../src/kv/kv.ts'
import { openLmdb } from '../../../src/kv/lmdb.ts'
import { relayCommits } from '../../../src/kv/relay/commit-relay.ts'
import { packCommits } from '../../../src/kv/relay/frames.ts'
import { relayedKv } from '../../../src/kv/relay/relayed-kv.ts'
import { describeKv } from '../suite.ts'
import { keysOf, put, texts } from '../text-entries.ts'

function neverFails(error: Error): void {
  throw error
}

/** Both ends of a connection, as a worker and its primary have them. */
async function socketPair(): Promise<[Socket, Socket]> {
  const directory = await newDirectory()
  const server = createServer().listen(join(directory, 'socket'))
  await once(server, 'listening')
  const accepted = once(server, 'connection')
  const here = connect(join(directory, 'socket'))
  const [there] = (await accepted) as [Socket]
  server.close()
  await rm(directory, { recursive: true })
  return [here, there]
}

const newDirectory = (): Promise<string> => mkdtemp(join(tmpdir(), 'holdfast-relay-'))

describeKv('relayedKv', async () => {
  const path = await newDirectory()
  const open = async (): Promise<Kv> => {
    const own = await openLmdb({ path, onFatal: neverFails })
    const [here, there] = await socketPair()
    relayCommits(own, there)
    return relayedKv(own, here, neverFails)
  }
  let kv = await open()
  return {
    kv,
    async reopen() {
      await kv.close()
      kv = await open()
      return kv
    },
    async close() {
      await kv.close()
      await rm(path, { recursive: true })
    },
  }
})

describe('two senders and an owner', () => {
  let path: string
  let owner: Kv
  let senders: Awaited<ReturnType<typeof sender>>[]

  beforeEach(async () => {
    path = await newDirectory()
    owner = await openLmdb({ path, onFatal: neverFails })
    senders = [await sender(), await sender()]
  })
  afterEach(async () => {
    for (const { link } of senders) link.destroy()
    await owner.close()
    await rm(path, { recursive: true })
  })

  async function sender(commits: Pick<Kv, 'commit'> = owner) {
    const [link, ownersEnd] = await socketPair()
    const onFatal = vi.fn()
    relayCommits(commits, ownersEnd)
    // All read through one engine here: a process opens a file of LMDB once.
    return { kv: relayedKv(owner, link, onFatal), link, ownersEnd, onFatal }
  }

  const [one, two] = [() => at(0), () => at(1)]
  function at(index: number) {
    const found = senders[index]
    if (found === undefined) throw new Error('there are two')
    return found
  }

  it('share transactions, and so their fsyncs', async () => {
    const numbers = Array.from({ length: 30 }, (_, i) => i)
    const commits = senders.flatMap(({ kv }, from) => numbers.map((i) => kv.commit({ puts: [put(`${from}/${i}`)] })))
    expect(await Promise.all(commits)).toEqual(commits.map(() => true))
    const found = await owner.range({ start: Buffer.from('0'), end: Buffer.from('9'), limit: 100 })
    const senderOf = new Map<number, Set<string>>()
    for (const { key, version } of found) {
      const transaction = Math.floor(numberOfVersion(version) / versionsPerTransaction)
      senderOf.set(transaction, (senderOf.get(transaction) ?? new Set()).add(key.toString().slice(0, 1)))
    }
    expect(found).toHaveLength(60)
    expect([...senderOf.values()].some((from) => from.size === 2)).toBe(true)
    expect(senderOf.size).toBeLessThan(10)
  })

  it('decide about one key as if they were one', async () => {
    await owner.commit({ puts: [put('a', 'old')] })
    for (let round = 0; round < 20; round++) {
      const [entry] = await owner.get([Buffer.from('a')])
      if (entry === undefined) throw new Error('a is not there')
      const checks = [{ key: entry.key, version: entry.version }]
      const all = [one().kv, owner, two().kv]
      const won = await Promise.all(all.map((kv, i) => kv.commit({ checks, puts: [put('a', `${round}/${i}`)] })))
      expect(won.filter(Boolean)).toHaveLength(1)
      expect(texts(await owner.get([Buffer.from('a')]))).toEqual([`a=${round}/${won.indexOf(true)}`])
    }
  })

  it('what the owner has no room for is refused by the same words', async () => {
    const refusing = { commit: () => Promise.reject(new KvUnavailable('no room, für heute')) }
    const { kv, onFatal } = await sender(refusing)
    await expect(kv.commit({ puts: [put('a')] })).rejects.toThrow(new KvUnavailable('no room, für heute'))
    await expect(kv.commit({ puts: [put('a')] })).rejects.toBeInstanceOf(KvUnavailable)
    expect(onFatal).not.toHaveBeenCalled()
  })

  it('commits of a lost link are rejected, once for all, and reads go on', async () => {
    await one().kv.commit({ puts: [put('a', '1')] })
    const pending = one().kv.commit({ puts: [put('b')] })
    const rejected = expect(pending).rejects.toThrow(new ProcessEnding('the process that commits has ended'))
    one().ownersEnd.destroy()
    await rejected
    await expect(one().kv.commit({ puts: [put('c')] })).rejects.toBeInstanceOf(ProcessEnding)
    expect(one().onFatal).toHaveBeenCalledTimes(1)
    expect(texts(await one().kv.get([Buffer.from('a')]))).toEqual(['a=1'])
    expect(two().onFatal).not.toHaveBeenCalled()
    expect(await two().kv.commit({ puts: [put('d')] })).toBe(true)
  })

  it('an owner whose engine has failed for good answers nothing, and the senders end', async () => {
    const failed = new Error('the metadata engine failed to commit')
    const { kv, onFatal } = await sender({ commit: () => Promise.reject(failed) })
    await expect(kv.commit({ puts: [put('a')] })).rejects.toThrow('the process that commits has ended')
    expect(onFatal).toHaveBeenCalledTimes(1)
  })

  it('a sender that dies in the middle of a frame leaves nothing of it', async () => {
    const [first, second] = ['whole', 'torn'].map((key, id) => packCommits([{ id, commit: { puts: [put(key)] } }]))
    if (first === undefined || second === undefined) throw new Error('there are two')
    one().link.write(Buffer.concat([first, second.subarray(0, second.length - 1)]))
    const ended = new Promise((resolve) => one().ownersEnd.once('close', resolve))
    while ((await keysOf(owner)).length === 0) await two().kv.commit({})
    one().link.destroy()
    await ended
    expect(await two().kv.commit({ puts: [put('z')] })).toBe(true)
    expect(await keysOf(owner)).toEqual(['whole', 'z'])
  })

  it('close waits for the commits under way, and takes no more', async () => {
    const commits = Array.from({ length: 20 }, (_, i) => one().kv.commit({ puts: [put(`k${i}`)] }))
    const closing = one().kv.close()
    await expect(one().kv.commit({})).rejects.toThrow('the metadata engine is closed')
    await closing
    expect(await Promise.all(commits)).toEqual(commits.map(() => true))
    expect(one().onFatal).not.toHaveBeenCalled()
  })
})
