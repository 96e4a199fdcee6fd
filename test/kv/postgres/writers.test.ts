/** The rows by which writers learn what became of their commits: who removes them, and what a writer does whose row is gone. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import type { Kv } from '../../../src/kv/kv.ts'
import { limits } from '../../../src/limits.ts'
import { CutProxy } from '../../support/cut-proxy.ts'
import { describeInstalled } from '../../support/installed.ts'
import { PostgresServer, postgresProbe } from '../../support/postgres.ts'
import { openedPostgres } from '../../support/postgres-engine.ts'
import { bytes, keysOf, put } from '../text-entries.ts'

describeInstalled('rows of writers', [postgresProbe], () => {
  let server: PostgresServer
  let databases = 0
  let name: string
  let url: string
  let proxy: CutProxy
  let kv: Kv
  let fatal: Error[]
  beforeAll(async () => {
    server = await PostgresServer.start()
  })
  afterAll(() => server?.remove())

  beforeEach(async () => {
    name = `writers_${++databases}`
    url = await server.database(name)
    proxy = await CutProxy.open(server.port)
    fatal = []
    const through = url.replace(`:${server.port}/`, `:${proxy.port}/`)
    kv = await openedPostgres({ url: through, connections: 4, onFatal: (error) => fatal.push(error) })
  })
  afterEach(async () => {
    vi.useRealTimers()
    await kv.close()
    await proxy.close()
  })

  const ids = (): string[] =>
    server.run(name, 'select id from holdfast_writers order by id').split('\n').filter(Boolean)
  const days = (count: number): string => `now() - interval '${count} days'`
  const ageAll = (count: number): string => server.run(name, `update holdfast_writers set opened = ${days(count)}`)
  /** As another process does it that opens the database. */
  const purge = async (): Promise<void> => (await openedPostgres({ url })).close()
  const absent = (key: string) => ({ key: bytes(key), absent: true as const })

  /** Cuts the connection when the server answers the commit, and lets no other session open until `before` has ended. */
  const cutOnce = (before: () => Promise<void>): void => {
    let isSent = false
    proxy.onRequest = (request) => {
      isSent ||= request.includes('secret of the test')
      return 'pass'
    }
    proxy.onAnswer = () => {
      if (!isSent) return 'pass'
      proxy.onRequest = () => 'pass'
      proxy.onAnswer = () => 'pass'
      proxy.isDeafToNew = true
      void before().finally(() => {
        proxy.isDeafToNew = false
        // Those that were opened in the meantime would stay deaf.
        proxy.cutClients()
      })
      return 'cut'
    }
  }

  it('are removed by the next process that opens the database, once they are a week old', async () => {
    const row = (id: string, age: number) => `('${id}', 1, 0, '{}', ${days(age)})`
    const [old, young] = ['00000000-0000-0000-0000-000000000008', '00000000-0000-0000-0000-000000000006']
    server.run(name, `insert into holdfast_writers values ${row(old, 8)}, ${row(young, 6)}`)
    await purge()
    expect(ids()).toEqual([young])
    const noted = "select value::numeric < extract(epoch from now() - interval '7 days') from holdfast_notes"
    expect(server.run(name, `${noted} where name = 'writers purged'`)).toBe('t')
  })

  it('may be removed while their writer continues, which then makes another', async () => {
    expect(await kv.commit({ puts: [put('a')] })).toBe(true)
    const [before] = ids()
    ageAll(8)
    await purge()
    expect(ids()).toEqual([])
    expect(await kv.commit({ checks: [absent('b')], puts: [put('b')] })).toBe(true)
    expect(ids()).not.toContain(before)
    expect(await keysOf(kv)).toEqual(['a', 'b'])
    expect(fatal).toEqual([])
  })

  it('are replaced daily by a writer that continues', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    await kv.commit({ puts: [put('a')] })
    const first = ids()
    expect(first).toHaveLength(1)
    vi.advanceTimersByTime(limits.writerRenewedMs - 1000)
    await kv.commit({ puts: [put('b')] })
    expect(ids()).toEqual(first)
    vi.advanceTimersByTime(2000)
    await kv.commit({ puts: [put('c')] })
    expect(ids()).toHaveLength(1)
    expect(ids()).not.toEqual(first)
  })

  it('that were removed while the outcome of a commit was not known end the process, and the commit is not answered', async () => {
    server.run(name, `alter table holdfast_writers alter column opened set default ${days(8)}`)
    await kv.commit({ puts: [put('warm')] })
    cutOnce(purge)
    const both = [kv.commit({ checks: [absent('a')], puts: [put('a', 'secret of the test')] })]
    both.push(kv.commit({ puts: [put('same batch')] }))
    for (const outcome of await Promise.allSettled(both))
      expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'OutcomeUnknown' } })
    expect(fatal).toMatchObject([{ name: 'OutcomeUnknown' }])
    await expect(kv.commit({ puts: [put('later')] })).rejects.toThrow('no longer knows')
    await expect(kv.get([bytes('a')])).rejects.toThrow('no longer knows')
    // It had been applied, so sending it again would have been answered with a conflict.
    expect(server.run(name, "select count(*) from holdfast_entries where key = 'a'")).toBe('1')
  })

  it('that were lost with the commit, and not purged, let it be sent again', async () => {
    await kv.commit({ puts: [put('warm')] })
    // As on a standby that has neither the row nor the commit, and takes over.
    cutOnce(async () => {
      await expect.poll(() => server.run(name, "select count(*) from holdfast_entries where key = 'a'")).toBe('1')
      server.run(name, "delete from holdfast_entries where key = 'a'; delete from holdfast_writers")
    })
    expect(await kv.commit({ checks: [absent('a')], puts: [put('a', 'secret of the test')] })).toBe(true)
    expect(fatal).toEqual([])
  })
})
