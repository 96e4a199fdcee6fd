/** What becomes of commits and reads that PostgreSQL refuses while it is alive. */

import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Kv, KvUnavailable } from '../../../src/kv/kv.ts'
import { describeInstalled } from '../../support/installed.ts'
import { PostgresServer, postgresProbe } from '../../support/postgres.ts'
import { openedPostgres } from '../../support/postgres-engine.ts'
import { bytes, keysOf, put, texts } from '../text-entries.ts'

describeInstalled('PostgreSQL that refuses', [postgresProbe], () => {
  let server: PostgresServer
  let name: string
  let kv: Kv
  let databases = 0

  beforeAll(async () => {
    server = await PostgresServer.start()
    // Limits of connections do not count for the superuser.
    server.run('postgres', 'create role plain login')
  })
  afterAll(() => server?.remove())

  beforeEach(async () => {
    name = `refusal_${++databases}`
    server.run('postgres', `create database ${name} owner plain`)
    kv = await openedPostgres({ url: `postgres://plain@127.0.0.1:${server.port}/${name}` })
    await kv.commit({ puts: [put('a', '1')] })
    await kv.get([bytes('a')])
  })
  afterEach(() => kv.close())

  const ask = (query: string): string => server.run('postgres', query)
  const backends = (): string[] =>
    ask(`select pid from pg_stat_activity where usename = 'plain' and datname = '${name}' order by pid`).split('\n')

  /** Runs `work`. Until that calls `unlock`, no commit can write the entry `a`. */
  async function whileLocked(work: (unlock: () => Promise<unknown>) => Promise<void>): Promise<void> {
    const holder = new pg.Client({ connectionString: server.url.replace('/postgres', `/${name}`) })
    await holder.connect()
    try {
      await holder.query("begin; select 1 from holdfast_entries where key = 'a' for update")
      await work(() => holder.query('rollback'))
    } finally {
      await holder.end()
    }
  }
  const waitsForLock = "from pg_stat_activity where wait_event_type = 'Lock' and usename = 'plain'"

  it('says that it is unavailable when somebody cancels a commit, of which nothing is written', async () => {
    await whileLocked(async () => {
      const outcome = expect(kv.commit({ puts: [put('a', '2'), put('b')] })).rejects.toThrow(KvUnavailable)
      await expect.poll(() => ask(`select count(*) ${waitsForLock}`)).toBe('1')
      ask(`select pg_cancel_backend(pid) ${waitsForLock}`)
      await outcome
    })
    expect(await keysOf(kv)).toEqual(['a'])
    expect(await kv.commit({ puts: [put('a', '2')] })).toBe(true)
  })

  it('answers commits at once while it takes no writes, and takes them later', async () => {
    const setReadOnly = (value: string): void => {
      ask(`alter system set default_transaction_read_only = ${value}`)
      ask('select pg_reload_conf()')
    }
    setReadOnly('on')
    try {
      const commit = (): Promise<unknown> => kv.commit({ puts: [put('b')] }).catch((error: unknown) => error)
      await expect.poll(commit).toBeInstanceOf(KvUnavailable)
      // Reads go on beside them.
      for (let round = 0; round < 20; round++) {
        expect(await commit()).toBeInstanceOf(KvUnavailable)
        expect(texts(await kv.get([bytes('a')]))).toEqual(['a=1'])
      }
    } finally {
      setReadOnly('off')
    }
    await expect.poll(() => kv.commit({ puts: [put('b')] }).catch(() => false)).toBe(true)
  })

  const limited = async (work: () => Promise<void>): Promise<void> => {
    ask(`alter role plain connection limit ${backends().length}`)
    try {
      await work()
    } finally {
      ask('alter role plain connection limit -1')
    }
  }

  it('serves over the connections that are open while it gives out no more', async () => {
    await limited(async () => {
      for (let round = 0; round < 5; round++) {
        const reads = Array.from({ length: 20 }, () => kv.range({ start: bytes('a'), end: bytes('b'), limit: 1 }))
        const commits = Array.from({ length: 20 }, (_, i) => kv.commit({ puts: [put(`k${i}`, `${round}`)] }))
        // A commit that conflicts with one under way goes to the next batch.
        const more = Array.from({ length: 5 }, (_, i) => kv.commit({ puts: [put(`k${i}`, `${round}`)] }))
        expect((await Promise.all(reads)).map(texts)).toEqual(reads.map(() => ['a=1']))
        expect(await Promise.all([...commits, ...more])).toEqual(Array(25).fill(true))
        expect(Math.abs((await kv.now()) - Date.now())).toBeLessThan(60_000)
      }
    })
  })

  it('ends nothing because it takes long, whatever the timeouts of its role', async () => {
    const known = ask(
      "select name from pg_settings where unit = 'ms' and name ~ '^(statement|lock|idle|transaction).*timeout$'",
    )
    const timeouts = known.split('\n')
    expect(timeouts).toContain('idle_session_timeout')
    for (const timeout of timeouts) ask(`alter role plain set ${timeout} = 200`)
    try {
      await kv.close()
      kv = await openedPostgres({ url: `postgres://plain@127.0.0.1:${server.port}/${name}` })
      await kv.commit({ puts: [put('warm')] })
      await kv.get([bytes('a')])
      const before = backends()
      await whileLocked(async (unlock) => {
        const snapshot = await kv.snapshot()
        const committed = kv.commit({ puts: [put('a', '2')] })
        // Longer than the timeouts.
        expect(await Promise.race([committed, delay(600, 'waits')])).toBe('waits')
        await unlock()
        expect(await committed).toBe(true)
        expect(texts(await snapshot.range({ start: bytes('a'), end: bytes('b'), limit: 1 }))).toEqual(['a=1'])
        await snapshot.close()
      })
      expect(texts(await kv.get([bytes('a')]))).toEqual(['a=2'])
      expect(backends()).toEqual(before)
    } finally {
      for (const timeout of timeouts) ask(`alter role plain reset ${timeout}`)
    }
  })

  it.each(['55P03', '25P03', '25P04'])(
    'says that it is unavailable when a commit ends with %s, of which nothing is written',
    async (code) => {
      // A trigger stands in for a timeout that some servers don't have, and others let every session turn off.
      const raise = `begin raise exception 'on purpose' using errcode = '${code}'; end`
      const trigger = `create function refuse() returns trigger language plpgsql as $body$ ${raise} $body$`
      server.run(name, `${trigger}; create trigger refuse before insert on holdfast_entries execute function refuse()`)
      await expect(kv.commit({ puts: [put('b')] })).rejects.toThrow(KvUnavailable)
      server.run(name, 'drop trigger refuse on holdfast_entries')
      expect(await keysOf(kv)).toEqual(['a'])
      expect(await kv.commit({ puts: [put('b')] })).toBe(true)
    },
  )

  it('is not taken for dead because it gives out no more connections', async () => {
    const before = backends()
    await whileLocked((unlock) =>
      limited(async () => {
        const committed = kv.commit({ puts: [put('a', '2')] })
        // Longer than the silence after which a session asks whether the server is alive.
        expect(await Promise.race([committed, delay(2000, 'waits')])).toBe('waits')
        expect(texts(await kv.get([bytes('a')]))).toEqual(['a=1'])
        await unlock()
        expect(await committed).toBe(true)
        // A connection that was given up stays until its statement ends.
        expect(backends()).toEqual(before)
      }),
    )
  })
})
