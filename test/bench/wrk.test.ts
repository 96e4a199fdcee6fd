import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readResult, wrkInstalled, wrkLoad } from '../../bench/load/wrk.ts'

describe('what the script of wrk writes', () => {
  it('is read as requests, seconds, latencies and CPU a request', () => {
    const load = readResult('100 2000000 0 1500\n400 98\n900 1\n5000 1\n', 10)
    expect(load).toEqual({ requests: 100, seconds: 2, latencyMs: { p50: 0.4, p99: 0.9 }, generatorCpuUs: 15 })
  })

  it('is refused when a request failed', () => {
    expect(() => readResult('100 2000000 3 1500\n', 10)).toThrow('3 requests')
  })
})

describe.skipIf(!(await wrkInstalled()))('wrk, when it is installed', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'holdfast-wrk-'))
  const seen: string[] = []
  const server = createServer((request, response) => {
    const body: Buffer[] = []
    request.on('data', (bytes) => body.push(bytes))
    request.on('end', () => {
      seen.push(`${request.method} ${request.url} ${Buffer.concat(body)}`)
      response.statusCode = request.url === '/refused' ? 403 : 200
      response.end('answer')
    })
  })
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
  afterAll(() => {
    server.close()
    rmSync(scratch, { recursive: true })
  })

  const put = (path: string, text: string) => {
    const body = Buffer.from(text)
    const head = Buffer.from(`PUT ${path} HTTP/1.1\r\nHost: here\r\nContent-Length: ${body.length}\r\n\r\n`)
    return { head, body, isHead: false }
  }
  const options = (paths: readonly string[]) => ({
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    connections: 1,
    seconds: 30,
    prepared: { requests: paths.map((path, index) => put(path, `body ${index % 2}`)), cyclic: false },
  })

  it('sends each request once, with its body, and ends when they are used up', async () => {
    const paths = Array.from({ length: 50 }, (_, index) => `/${index}`)
    const { requests, seconds } = await wrkLoad(options(paths), scratch)
    expect(requests).toBe(50)
    expect(seconds).toBeLessThan(30)
    // When its requests are used up, one more may be on its way.
    expect(seen.slice(0, 50)).toEqual(paths.map((path, index) => `PUT ${path} body ${index % 2}`))
  })

  it('fails when an answer is no success', async () => {
    await expect(wrkLoad(options(Array.from({ length: 9 }, () => '/refused')), scratch)).rejects.toThrow('failed')
  })
})
