/** What a database must be, and becomes, when gateways open it. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isClean } from '../../../src/kv/kv.ts'
import { openPostgres } from '../../../src/kv/postgres.ts'
import { describeInstalled } from '../../support/installed.ts'
import { PostgresServer, postgresProbe } from '../../support/postgres.ts'
import { openedPostgres } from '../../support/postgres-engine.ts'
import { bytes, entryOf, put } from '../text-entries.ts'

describeInstalled('opening PostgreSQL', [postgresProbe], () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await PostgresServer.start()
  })
  afterAll(() => server?.remove())

  it('makes the schema once, however many gateways open it', async () => {
    const url = await server.database('fresh')
    const engines = await Promise.all(Array.from({ length: 6 }, () => openedPostgres({ url, connections: 4 })))
    for (const [i, kv] of engines.entries()) expect(await kv.commit({ puts: [put(`k${i}`)] })).toBe(true)
    expect(server.run('fresh', 'select count(*) from holdfast_entries')).toBe('6')
    await Promise.all(engines.map((kv) => kv.close()))
    expect(server.run('fresh', 'select count(*) from holdfast_writers')).toBe('0')
  })

  it('brings a schema of an earlier version up to date, and keeps its entries', async () => {
    const url = await server.database('earlier')
    const before = await openedPostgres({ url })
    await before.commit({ puts: [put('a')] })
    await before.close()
    server.run('earlier', "drop function holdfast_commit; update holdfast_notes set value = '1' where name = 'schema'")
    const after = await openedPostgres({ url })
    expect(await after.commit({ checks: [await entryOf(after, 'a')], puts: [put('b')] })).toBe(true)
    await after.close()
    expect(server.run('earlier', "select value from holdfast_notes where name = 'schema'")).toBe('2')
  })

  it('refuses a budget of connections in which reads and commits would wait for each other for ever', async () => {
    await expect(openedPostgres({ url: server.url, connections: 3 })).rejects.toThrow('4 are the least')
  })

  it('refuses a schema of a later version, and leaves it', async () => {
    const url = await server.database('later')
    await (await openedPostgres({ url })).close()
    server.run('later', "update holdfast_notes set value = '99' where name = 'schema'")
    await expect(openedPostgres({ url })).rejects.toThrow('later version')
    expect(server.run('later', "select value from holdfast_notes where name = 'schema'")).toBe('99')
  })

  it('refuses a database that takes no writes', async () => {
    const url = await server.database('frozen')
    server.run('postgres', 'alter database frozen set default_transaction_read_only = on')
    const refusal = () => openPostgres({ url }).catch((error: unknown) => error)
    await expect.poll(refusal).toMatchObject({ status: 503, cause: { message: 'the server is read-only' } })
  })

  it.each([
    ['fsync', 'off'],
    ['full_page_writes', 'off'],
  ])('refuses a server whose %s is %s', async (name, value) => {
    const lax = await PostgresServer.start([`${name}=${value}`])
    try {
      await expect(openedPostgres({ url: lax.url })).rejects.toThrow(name)
    } finally {
      await lax.remove()
    }
  })

  it('asks for durable commits where the database has others, and warns of a missing standby once', async () => {
    const url = await server.database('lax')
    server.run('postgres', 'alter database lax set synchronous_commit = off')
    const warnings: string[] = []
    const kv = await openedPostgres({ url, warn: (message) => warnings.push(message) })
    expect(await kv.commit({ puts: [put('a')] })).toBe(true)
    await kv.close()
    expect(warnings).toEqual([expect.stringContaining('synchronous_standby_names')])
  })

  it('takes the host of several that takes writes', async () => {
    const url = await server.database('several')
    const host = `127.0.0.1:${server.port}`
    const kv = await openedPostgres({ url: url.replace(host, `127.0.0.1:1,${host}`) })
    expect(await kv.commit({ puts: [put('a')] })).toBe(true)
    await kv.close()
  })

  it('checks every record against its own checksum, and says which versions it has seen', async () => {
    const url = await server.database('checked')
    const isWhole = (key: Buffer, value: Buffer): boolean => key.equals(value)
    const kv = await openedPostgres({ url, isWhole })
    await kv.commit({ puts: Array.from({ length: 1203 }, (_, i) => put(`k${i}`, `k${i}`)) })
    const { version } = await entryOf(kv, 'k7')
    expect(await kv.integrity.lastCheck()).toBeUndefined()
    const paced: number[] = []
    const report = await kv.integrity.check({ pace: async (read) => void paced.push(read) })
    expect(report).toMatchObject({ entries: 1203, damagedRecords: 0 })
    expect(isClean(report)).toBe(true)
    expect(paced.length).toBeGreaterThan(2)
    expect(kv.integrity.covers(report, version)).toBe(true)
    await kv.commit({ puts: [put('k7', 'k8')] })
    expect(kv.integrity.covers(report, (await entryOf(kv, 'k7')).version)).toBe(false)
    expect(await kv.integrity.check()).toMatchObject({ entries: 1203, damagedRecords: 1, damagedKeys: ['k7'] })
    expect(await kv.integrity.lastCheck()).toMatchObject({ damagedKeys: ['k7'] })
    expect(await kv.get([bytes('k7')])).toHaveLength(1)
    await kv.close()
  })
})
