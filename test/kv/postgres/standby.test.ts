/** What becomes of commits when the primary is lost with its machine, and its synchronous standby takes over. */

import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Kv, KvUnavailable } from '../../../src/kv/kv.ts'
import { describeInstalled } from '../../support/installed.ts'
import { postgresProbe } from '../../support/postgres.ts'
import { openedPostgres } from '../../support/postgres-engine.ts'
import { PostgresPair } from '../../support/postgres-pair.ts'
import { bytes, keysOf, put, texts } from '../text-entries.ts'

describeInstalled('PostgreSQL with a synchronous standby', [postgresProbe], () => {
  let pair: PostgresPair
  let kv: Kv
  beforeEach(async () => {
    pair = await PostgresPair.start()
    kv = await openedPostgres({ url: pair.url() })
  })
  afterEach(async () => {
    await kv?.close()
    await pair?.remove()
  })

  const untilApplied = async (key: string): Promise<void> => {
    await expect.poll(() => kv.commit({ puts: [put(key)] }).catch(() => false)).toBe(true)
  }

  it('keeps what was acknowledged when the standby takes over, again and again', async () => {
    const acknowledged: string[] = []
    let going = true
    const writers = Array.from({ length: 4 }, async (_, writer) => {
      for (let i = 0; going; i++) {
        const key = `${writer}/${i}`
        try {
          if (await kv.commit({ checks: [{ key: bytes(key), absent: true }], puts: [put(key)] })) acknowledged.push(key)
        } catch (error) {
          if (!(error instanceof KvUnavailable)) throw error
        }
      }
    })
    for (let i = 0; i < 2; i++) {
      const before = acknowledged.length
      await expect.poll(() => acknowledged.length).toBeGreaterThan(before + 50)
      await pair.failOver()
    }
    await untilApplied('after')
    going = false
    await Promise.all(writers)
    expect(await keysOf(kv)).toEqual(expect.arrayContaining([...acknowledged, 'after']))
  })

  it('reads what was just committed, also while the standby shows less', async () => {
    await kv.commit({ puts: [put('before')] })
    pair.standby.run('postgres', 'select pg_wal_replay_pause()')
    for (let i = 0; i < 8; i++) {
      const reader = await openedPostgres({ url: pair.url([...pair.ports].reverse()) })
      await kv.commit({ puts: [put(`k${i}`)] })
      expect(texts(await reader.get([bytes(`k${i}`)]))).toEqual([`k${i}=`])
      await reader.close()
    }
    pair.standby.run('postgres', 'select pg_wal_replay_resume()')
  })

  it('never goes back to a primary that still takes writes after its standby was promoted', async () => {
    await kv.commit({ puts: [put('a', 'old')] })
    pair.standby.run('postgres', 'select pg_promote(true, 60)')
    // Both wait for a standby that neither has.
    pair.standby.run(
      'postgres',
      "set synchronous_commit = local; update holdfast_entries set value = 'new' where key = 'a'",
    )
    const readAnew = async (): Promise<string | undefined> => {
      for (const server of [pair.primary, pair.standby])
        server.run(
          'postgres',
          "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'holdfast'",
        )
      return kv.get([bytes('a')]).then((entries) => texts(entries)[0], readAnew)
    }
    await expect.poll(readAnew).toBe('a=new')
    const read = new Set<unknown>()
    for (let i = 0; i < 20; i++) read.add(await readAnew())
    expect([...read]).toEqual(['a=new'])
  })

  it('loses no acknowledged commit whose wait for the standby was cancelled before the standby took over', async () => {
    await kv.commit({ puts: [put('before')] })
    await pair.detach()
    let answered = 0
    const commits = Array.from({ length: 8 }, (_, i) => kv.commit({ puts: [put(`k${i}`)] }).finally(() => answered++))
    await expect.poll(() => pair.cancelWaits()).toBeGreaterThan(0)
    await expect.poll(() => pair.cancelWaits()).toBeGreaterThan(0)
    expect(answered).toBe(0)
    await pair.failOver()
    const outcomes = await Promise.allSettled(commits)
    await untilApplied('after')
    const applied = outcomes.flatMap((outcome, i) => (outcome.status === 'fulfilled' ? [bytes(`k${i}`)] : []))
    expect(texts(await kv.get(applied))).toEqual(applied.map((key) => `${key}=`))
    expect(applied.length).toBeGreaterThan(0)
  })
})
