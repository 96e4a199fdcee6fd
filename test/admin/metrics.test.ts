/** Metrics: what they count, who may read them, and that Prometheus can. */
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { firstIdSince, timeOrderedId } from '../../src/clock.ts'
import { replicaPut } from '../../src/commits/replica-queue.ts'
import type { RequestLog } from '../../src/http/telemetry/request-log.ts'
import { limits } from '../../src/limits.ts'
import { eventKey } from '../../src/records/keyspace.ts'
import { eventCodec } from '../../src/records/record-codecs.ts'
import { type AdminWorld, openAdminWorld } from './admin-world.ts'

let world: AdminWorld
beforeAll(async () => {
  world = await openAdminWorld()
})
afterAll(() => world.close())

const served = (line: Partial<RequestLog>): RequestLog => ({
  requestId: 'id',
  operation: 'GetObject',
  method: 'GET',
  path: '/b/k',
  status: 200,
  code: '',
  bytesIn: 0,
  bytesOut: 0,
  durationMs: 1,
  firstByteMs: 1,
  remote: '',
  accessKeyId: 'k',
  account: 'main',
  ...line,
})

const scrape = async (plain: Record<string, string> = {}, path = '/metrics'): Promise<string> => {
  const { status, text } = await world.raw({ method: 'GET', path, by: 'nobody', plain })
  expect([status, text.slice(0, 80)]).toEqual([200, expect.stringContaining('# HELP')])
  return text
}

/** The value of a series, as a scrape gives it. `undefined`: there is none. */
const valueIn = (text: string, series: string): number | undefined => {
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}

describe('requests', () => {
  it('are counted by operation, status and code, with their bytes and durations', async () => {
    const before = await scrape()
    const { traffic } = world
    for (const durationMs of [0.5, 3, 40_000])
      traffic.count(served({ operation: 'PutObject', bytesIn: 100, durationMs }))
    traffic.count(served({ operation: 'PutObject', status: 403, code: 'AccessDenied', bytesOut: 7, durationMs: 3 }))
    const text = await scrape()
    const grew = (series: string): number => (valueIn(text, series) ?? 0) - (valueIn(before, series) ?? 0)
    expect(grew('holdfast_requests_total{operation="PutObject",status="200",code=""}')).toBe(3)
    expect(grew('holdfast_requests_total{operation="PutObject",status="403",code="AccessDenied"}')).toBe(1)
    expect(grew('holdfast_received_bytes_total{operation="PutObject"}')).toBe(300)
    expect(grew('holdfast_sent_bytes_total{operation="PutObject"}')).toBe(7)
    const bucket = (le: string) => grew(`holdfast_request_duration_seconds_bucket{le="${le}",operation="PutObject"}`)
    expect(['0.001', '0.0025', '0.005', '30', '+Inf'].map(bucket)).toEqual([1, 1, 3, 3, 4])
    expect(grew('holdfast_request_duration_seconds_count{operation="PutObject"}')).toBe(4)
    expect(grew('holdfast_request_duration_seconds_sum{operation="PutObject"}')).toBeCloseTo(40.0065)
  })

  it('are counted by account up to a limit, then together', async () => {
    for (let i = 0; i < limits.accountsMeasuredMax + 50; i++) world.traffic.count(served({ account: `account-${i}` }))
    const text = await scrape()
    const labels = text.match(/^holdfast_account_requests_total\{account="[^"]*"\}/gm) ?? []
    expect(labels.length).toBe(limits.accountsMeasuredMax + 1)
    expect(valueIn(text, 'holdfast_account_requests_total{account="other"}')).toBeGreaterThanOrEqual(50)
  })

  it('of hostile names make no broken line', async () => {
    world.traffic.count(served({ account: 'a"b\\c\nd', operation: 'x"}\n' }))
    const text = await scrape()
    for (const line of text.split('\n').filter(Boolean))
      expect(line).toMatch(/^(?:# (?:HELP|TYPE) |holdfast_\w+(?:\{.*\})? \S+$)/)
  })
})

it('tell the state of the server', async () => {
  const text = await scrape()
  expect(valueIn(text, 'holdfast_metadata_up')).toBe(1)
  expect(valueIn(text, 'holdfast_location_writable{location="default",default="true"}')).toBe(1)
  expect(text).toContain('holdfast_build_info{version="1.2.3"} 1')
  expect(valueIn(text, 'holdfast_repair_queue_blobs{state="lost"}')).toBe(0)
})

describe('events that wait', () => {
  const family = 'holdfast_oldest_event_age_seconds'
  const ageIn = (text: string, webhook: string) => valueIn(text, `${family}{webhook="${webhook}"}`)

  it('make no series where there are none', async () => {
    expect(await scrape()).not.toContain(family)
  })

  it('are measured by webhook: how long the oldest has waited', async () => {
    // Another world, because each one remembers for a while what it has measured.
    const other = await openAdminWorld()
    const { kv, clock } = other.backend
    const queue = async (webhook: string, id = timeOrderedId(clock)) => {
      const key = eventKey(webhook, id)
      const value = eventCodec.encode(key, { kind: 'test', timeMs: clock.now(), bucket: 'b', requestId: 'r' })
      await kv.commit({ puts: [{ key, value }] })
    }
    try {
      await queue('primary')
      other.advance(1_000_000)
      await queue('primary')
      await queue('primary-2')
      other.advance(50_000)
      await queue('of-a-faster-clock', firstIdSince(clock.now() + 3_600_000))
      const { text } = await other.raw({ method: 'GET', path: '/metrics', by: 'nobody' })
      expect(Math.floor((ageIn(text, 'primary') ?? 0) / 50)).toBe(21)
      expect(Math.floor((ageIn(text, 'primary-2') ?? 0) / 50)).toBe(1)
      expect(ageIn(text, 'of-a-faster-clock')).toBe(0)
      expect(text.match(new RegExp(`^${family}`, 'gm'))?.length).toBe(3)
    } finally {
      await other.close()
    }
  })
})

it('tell how many versions wait to be copied where, and since when', async () => {
  const other = await openAdminWorld()
  const { kv, clock } = other.backend
  const queue = async (arn: string, key: string) => {
    const put = replicaPut(clock, { name: 'photos', id: 'b' }, arn, { key, sequence: 1 })
    await kv.commit({ puts: [put] })
  }
  try {
    await queue('far', 'b')
    other.advance(1_000_000)
    await queue('far', 'a')
    await queue('near', 'a')
    const { text } = await other.raw({ method: 'GET', path: '/metrics', by: 'nobody' })
    const of = (what: string, destination: string) =>
      valueIn(text, `holdfast_replication_${what}{bucket="photos",destination="${destination}"}`)
    expect([of('waiting_versions', 'far'), of('waiting_versions', 'near')]).toEqual([2, 1])
    expect(Math.floor((of('oldest_age_seconds', 'far') ?? 0) / 50)).toBe(20)
    expect(of('oldest_age_seconds', 'near')).toBeLessThan(50)
  } finally {
    await other.close()
  }
})

describe('a scrape', () => {
  it('gets OpenMetrics when it asks for it', async () => {
    const plain = { accept: 'application/openmetrics-text; version=1.0.0,text/plain;q=0.5' }
    const { headers, text } = await world.raw({ method: 'GET', path: '/metrics', by: 'nobody', plain })
    expect(headers['content-type']).toContain('application/openmetrics-text')
    expect(text.trimEnd().endsWith('# EOF')).toBe(true)
  })

  it('may use MinIO’s path', async () => {
    expect(await scrape({}, '/minio/v2/metrics/cluster')).toContain('holdfast_requests_total')
  })

  const refused: [string, Record<string, string>][] = [
    ['with a wrong token', { authorization: 'Bearer another-token-of-this' }],
    ['with an empty token', { authorization: 'Bearer ' }],
    ['that a proxy on this machine passes on', { 'x-forwarded-for': '192.0.2.1' }],
    ['that another proxy passes on', { forwarded: 'for=192.0.2.1' }],
    ['by a name that is not the server’s', { host: 'evil.example' }],
  ]
  it.each(refused)('%s is refused', async (_, plain) => {
    const { status, text } = await world.raw({ method: 'GET', path: '/metrics', by: 'nobody', plain })
    expect([status === 403 || status === 421, text.includes('holdfast_')]).toEqual([true, false])
  })

  it('with the token is answered, by any name and through any proxy', async () => {
    const authorization = 'Bearer a-token-of-the-tests'
    await scrape({ authorization, host: 'holdfast.internal:9001', 'x-forwarded-for': '192.0.2.1' })
  })
})

it('is what promtool accepts', async () => {
  const text = await scrape()
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })
  expect([status, stdout, stderr]).toEqual([0, '', ''])
})

describe('the alert rules', () => {
  const rules = 'docs/monitoring/alerts.yml'
  const names = (): string[] =>
    [...readFileSync(rules, 'utf8').matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name)

  it('are valid', () => {
    expect(execFileSync('promtool', ['check', 'rules', rules], { encoding: 'utf8' })).toContain('SUCCESS')
  })

  it('fire, and only when they should', () => {
    const tests = 'test/admin/alerts.test.yml'
    expect(execFileSync('promtool', ['test', 'rules', tests], { encoding: 'utf8' })).toContain('SUCCESS')
    const text = readFileSync(tests, 'utf8')
    const firing = new Set(
      [...text.matchAll(/alertname: (\w+)\n\s+exp_alerts:\n\s+- exp_labels:/g)].map(([, name]) => name),
    )
    expect([...firing].sort()).toEqual(names().sort())
  })

  it('are explained one by one', () => {
    const page = readFileSync('docs/alerts.md', 'utf8')
    for (const name of names()) expect(page).toContain(`## ${name}\n`)
    expect(page.match(/^## /gm)?.length).toBe(names().length)
  })
})

it('has every series that rules and dashboard name', async () => {
  world.traffic.count(served({}))
  const text = await scrape()
  const exposed = new Set([...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name = '']) => name))
  // Present only with metadata on disk, several servers, or once buckets were counted.
  const elsewhere = readFileSync('src/metrics/exposition.ts', 'utf8')
  for (const file of ['docs/monitoring/alerts.yml', 'docs/monitoring/dashboard.json']) {
    const named = readFileSync(file, 'utf8').match(/\bholdfast_\w+/g) ?? []
    expect(named.length).toBeGreaterThan(10)
    for (const name of named) {
      const family = name.replace(/_(?:bucket|sum|count)$/, '')
      expect([file, name, exposed.has(family) || elsewhere.includes(`'${family}'`)]).toEqual([file, name, true])
    }
  }
})
