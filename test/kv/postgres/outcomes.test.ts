/** What becomes of commits and reads when the database, or the way to it, fails. */

import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Kv, KvUnavailable } from '../../../src/kv/kv.ts'
import { CutProxy } from '../../support/cut-proxy.ts'
import { describeInstalled } from '../../support/installed.ts'
import { PostgresServer, postgresProbe } from '../../support/postgres.ts'
import { openedPostgres } from '../../support/postgres-engine.ts'
import { bytes, entryOf, increment, keysOf, put, texts } from '../text-entries.ts'

describeInstalled('PostgreSQL that fails', [postgresProbe], () => {
  let server: PostgresServer
  let proxy: CutProxy
  let url: string
  let direct: Kv
  let kv: Kv
  let databases = 0

  beforeAll(async () => {
    server = await PostgresServer.start()
  })
  afterAll(() => server?.remove())

  beforeEach(async () => {
    await server.begin()
    const name = `outcome_${++databases}`
    url = await server.database(name)
    proxy = await CutProxy.open(server.port)
    direct = await openedPostgres({ url })
    kv = await openedPostgres({ url: url.replace(`:${server.port}/`, `:${proxy.port}/`) })
  })
  afterEach(async () => {
    await Promise.all([kv.close(), direct.close()])
    await proxy.close()
  })

  const isCommit = (sent: Buffer): boolean => sent.includes('commit') && sent.includes('secret of the test')
  const marked = put('a', 'secret of the test')

  const setStandby = (name: string): void => {
    server.run('postgres', `alter system set synchronous_standby_names = '${name}'`)
    server.run('postgres', 'select pg_reload_conf()')
  }

  it('answers a commit whose answer was lost with what became of it', async () => {
    await kv.commit({ puts: [put('warm')] })
    let cuts = 0
    let sent = false
    proxy.onRequest = (request) => {
      sent ||= isCommit(request)
      return 'pass'
    }
    proxy.onAnswer = () => {
      if (!sent) return 'pass'
      sent = false
      cuts++
      return 'cut'
    }
    expect(await kv.commit({ checks: [{ key: bytes('a'), absent: true }], puts: [marked] })).toBe(true)
    expect(cuts).toBe(1)
    expect(await keysOf(direct)).toEqual(['a', 'warm'])
    // The checks of a repeated one fail, and only of that one.
    sent = false
    const [again, other] = await Promise.all([
      kv.commit({ checks: [{ key: bytes('a'), absent: true }], puts: [marked] }),
      kv.commit({ puts: [put('other')] }),
    ])
    expect([again, other]).toEqual([false, true])
    expect(cuts).toBe(2)
  })

  it('lets nothing of a commit take effect that comes to the server after it was given up', async () => {
    await kv.commit({ puts: [put('warm')] })
    const { version } = await entryOf(kv, 'warm')
    let holds = true
    proxy.onRequest = (request) => {
      if (!holds || !isCommit(request)) return 'pass'
      holds = false
      setImmediate(() => proxy.cutClients())
      return 'hold'
    }
    const committed = kv.commit({ checks: [{ key: bytes('warm'), version }], puts: [marked] })
    expect(await committed).toBe(true)
    const { version: before } = await entryOf(direct, 'a')
    await proxy.letGo()
    expect(await entryOf(direct, 'a')).toMatchObject({ version: before })
  })

  it('loses and repeats no increment while sessions are ended under two gateways', async () => {
    await direct.commit({ puts: [put('count', '0')] })
    let going = true
    const ending = (async () => {
      for (let i = 0; going; i++) {
        const which = i % 2 === 0 ? "query like '%commit%'" : 'true'
        server.run(
          'postgres',
          `select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = 'holdfast' and ${which}`,
        )
        await delay(50)
      }
    })()
    const tries = Array.from({ length: 6 }, (_, i) => untilDone(i % 2 === 0 ? kv : direct, 10))
    await Promise.all(tries)
    going = false
    await ending
    expect((await entryOf(direct, 'count')).value.toString()).toBe('60')
  })

  async function untilDone(engine: Kv, times: number): Promise<void> {
    for (let i = 0; i < times; ) {
      try {
        await increment(engine, bytes('count'), 1)
        i++
      } catch (error) {
        // It says that nothing was written.
        if (!(error instanceof KvUnavailable)) throw error
      }
    }
  }

  it('says that it is unavailable while the server is down, and goes on when it is back', async () => {
    await kv.commit({ puts: [put('a', '1')] })
    await server.stop('SIGQUIT')
    await expect(kv.get([bytes('a')])).rejects.toThrow(KvUnavailable)
    await expect(kv.commit({ puts: [put('b')] })).rejects.toThrow(KvUnavailable)
    await server.begin()
    await expect.poll(() => kv.get([bytes('a')]).then(texts, () => undefined)).toEqual(['a=1'])
    await expect.poll(() => kv.commit({ puts: [put('b')] }).catch(() => false)).toBe(true)
  })

  it('closes while the server is down, and rejects a commit whose answer was lost', async () => {
    await kv.commit({ puts: [put('warm')] })
    proxy.onRequest = (request) => {
      if (!isCommit(request)) return 'pass'
      proxy.refuses = true
      return 'cut'
    }
    const outcome = expect(kv.commit({ puts: [marked] })).rejects.toThrow()
    await expect.poll(() => proxy.refuses).toBe(true)
    await kv.close()
    await outcome
  })

  it('closes while the server waits for a standby that is gone', async () => {
    await kv.commit({ puts: [put('warm')] })
    setStandby('nobody')
    try {
      const outcome = expect(kv.commit({ puts: [put('a')] })).rejects.toThrow()
      const waiting = "select count(*) from pg_stat_activity where wait_event = 'SyncRep'"
      await expect.poll(() => server.run('postgres', waiting)).toBe('1')
      await kv.close()
      await outcome
    } finally {
      setStandby('')
    }
  })

  it('closes while the server says nothing, and does not even hang up', async () => {
    await kv.commit({ puts: [put('warm')] })
    await kv.get([bytes('warm')])
    proxy.stop()
    const outcome = expect(kv.commit({ puts: [put('a')] })).rejects.toThrow()
    await kv.close()
    await outcome
  })

  it('leaves time for everything else to a process that keeps reading while the server is down', async () => {
    await server.stop('SIGQUIT')
    const isRefused = (read: Promise<unknown>): Promise<unknown> => expect(read).rejects.toThrow(KvUnavailable)
    const page = () => kv.range({ start: bytes('a'), end: bytes('b'), limit: 1 })
    await isRefused(page())
    let hasTurned = false
    setImmediate(() => {
      hasTurned = true
    })
    // So many take less than the pause after a failed attempt to reach the server.
    for (let tries = 0; tries < 20 && !hasTurned; tries++) await isRefused(page())
    expect(hasTurned).toBe(true)
  })

  it('tries to reach the server again after pauses of different length, however often it is asked meanwhile', async () => {
    proxy.refuses = true
    proxy.cutClients()
    let calls = 0
    while (proxy.refusedAtMs.length < 12) {
      await kv.get([bytes('a')]).catch(() => {})
      calls++
    }
    expect(calls).toBeGreaterThan(5 * proxy.refusedAtMs.length)
    const pauses = proxy.refusedAtMs.slice(1).map((atMs, i) => atMs - (proxy.refusedAtMs[i] ?? 0))
    expect(Math.max(...pauses)).toBeGreaterThan(1.25 * Math.min(...pauses))
  })

  it('waits for a session that a busy server is slow to accept, while it answers on another', async () => {
    await kv.get([bytes('a')])
    proxy.isDeafToNew = true
    let isOver = false
    const answered = (async () => {
      while (!isOver) {
        await kv.get([bytes('a')])
        await delay(20)
      }
    })()
    try {
      const outcome = kv.commit({ puts: [put('a', '1')] }).catch(() => 'refused')
      // Longer than one attempt to open a session takes.
      expect(await Promise.race([outcome, delay(1500).then(() => 'waits')])).toBe('waits')
      proxy.isDeafToNew = false
      expect(await outcome).toBe(true)
    } finally {
      isOver = true
      await answered
    }
  })

  it('does not wait for ever for a server that says nothing', async () => {
    await kv.commit({ puts: [put('a', '1')] })
    proxy.onAnswer = () => 'swallow'
    await expect(kv.get([bytes('a')])).rejects.toThrow(KvUnavailable)
    proxy.onAnswer = () => 'pass'
    await expect.poll(() => kv.get([bytes('a')]).then(texts, () => undefined)).toEqual(['a=1'])
  })

  const german = (answer: Buffer): void => {
    const at = answer.indexOf('SWARNING\0V')
    if (at >= 0) answer.write('SWARNUNG\0V', at)
  }
  it.each<[string, (answer: Buffer) => void]>([
    ['English', () => {}],
    ['German', german],
  ])(
    'does not answer a commit whose wait for the standby was given up before the standby has it, as a server says in %s',
    async (_language, translate) => {
      proxy.onAnswer = (answer) => {
        translate(answer)
        return 'pass'
      }
      await kv.commit({ puts: [put('warm')] })
      const waiting = "from pg_stat_activity where wait_event = 'SyncRep'"
      setStandby('nobody')
      try {
        let answered = false
        const committed = kv.commit({ puts: [put('a', '1')] }).then((applied) => {
          answered = true
          return applied
        })
        for (let i = 0; i < 3; i++) {
          await expect.poll(() => server.run('postgres', `select count(*) ${waiting}`)).not.toBe('0')
          server.run('postgres', `select pg_cancel_backend(pid) ${waiting}`)
          await expect.poll(() => server.run('postgres', `select count(*) ${waiting}`)).not.toBe('0')
          expect(answered).toBe(false)
        }
        setStandby('')
        expect(await committed).toBe(true)
      } finally {
        setStandby('')
      }
    },
  )

  it('commits of two gateways that conflict have one winner, whatever they check', async () => {
    const engines = [kv, direct]
    const contested = [bytes('winner'), ...Array.from({ length: 8 }, (_, i) => bytes(`x/${i}`))]
    for (let round = 0; round < 20; round++) {
      await direct.commit({ puts: [put('a', 'old')], deletes: contested })
      const { key, version } = await entryOf(direct, 'a')
      const contests = [
        (i: number) => ({ checks: [{ key, version }], puts: [put('a', `${i}`)] }),
        (i: number) => ({ checks: [{ key: bytes('winner'), absent: true as const }], puts: [put('winner', `${i}`)] }),
        (i: number) => ({
          checks: [{ emptyFrom: bytes('x/'), emptyTo: bytes('x0') }],
          puts: [put(`x/${i}`)],
        }),
      ]
      for (const contest of contests) {
        const outcomes = await Promise.all(Array.from({ length: 8 }, (_, i) => engines[i % 2]?.commit(contest(i))))
        expect(outcomes.filter(Boolean)).toHaveLength(1)
      }
    }
  })
})
