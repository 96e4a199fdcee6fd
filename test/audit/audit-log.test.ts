/** The audit log's targets: a file that is durable, and a receiver that may be away. */
import { appendFile, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { auditFile } from '../../src/audit/audit-file.ts'
import { type AuditEntry, auditLogOver } from '../../src/audit/audit-log.ts'
import { auditWebhook } from '../../src/audit/audit-webhook.ts'

/** The paths of what was synced, in order. */
const synced = vi.hoisted((): string[] => [])

vi.mock('node:fs/promises', async (original) => {
  const fs = await original<typeof import('node:fs/promises')>()
  const open = (async (path: string, flags?: string, mode?: number) => {
    const handle = await fs.open(path, flags, mode)
    for (const name of ['sync', 'datasync'] as const) {
      const sync = handle[name].bind(handle)
      handle[name] = () => {
        synced.push(path)
        return sync()
      }
    }
    return handle
  }) as typeof fs.open
  return { ...fs, open }
})

const entry = (operation: string): AuditEntry => ({
  time: '2026-11-23T00:00:00.000Z',
  port: 'admin',
  operation,
  requestId: 'id',
  remote: '192.0.2.1',
  accessKeyId: 'key',
  account: 'main',
  target: { name: 'line\nbreak' },
})

let directory = ''
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'audit-'))
  synced.length = 0
  return () => rm(directory, { recursive: true, force: true })
})

describe('a file', () => {
  const operationsIn = async (path: string) =>
    (await readFile(path, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).operation)

  it('holds each entry as a line once it is recorded, and goes on after a rotation', async () => {
    const path = join(directory, 'audit.jsonl')
    const log = auditLogOver([auditFile(path)], () => {})
    await Promise.all([log.record(entry('One')), log.record(entry('Two'))])
    expect((await operationsIn(path)).sort()).toEqual(['One', 'Two'])
    await rename(path, `${path}.1`)
    await log.record(entry('Three'))
    expect(await operationsIn(path)).toEqual(['Three'])
  })

  it('that a full disk cut off within a line takes the next entry on a line of its own', async () => {
    const path = join(directory, 'audit.jsonl')
    const log = auditLogOver([auditFile(path)], () => {})
    await log.record(entry('One'))
    await appendFile(path, '{"time":"2026-')
    await log.record(entry('Two'))
    const lines = (await readFile(path, 'utf8')).split('\n')
    expect(lines.map((line) => line.slice(0, 14))).toEqual([...Array(3).fill('{"time":"2026-'), ''])
    expect(JSON.parse(lines[2] ?? '').operation).toBe('Two')
  })

  it('is named durably in its directory before the first entry counts', async () => {
    const path = join(directory, 'audit.jsonl')
    const log = auditLogOver([auditFile(path)], () => {})
    await log.record(entry('One'))
    await log.record(entry('Two'))
    expect(synced.map((file) => file.slice(directory.length))).toEqual(['', '/audit.jsonl', '/audit.jsonl'])
  })

  it('that can not be written makes changes impossible, and says so', async () => {
    const failures: unknown[] = []
    const log = auditLogOver([auditFile(join(directory, 'missing', 'audit.jsonl'))], (error) => failures.push(error))
    await expect(log.ready()).rejects.toMatchObject({ code: 'ServiceUnavailable' })
    await expect(log.record(entry('One'))).rejects.toMatchObject({ code: 'ServiceUnavailable' })
    expect(failures).toHaveLength(2)
  })
})

describe('a receiver', () => {
  let server: Server
  const got: { operation: string; authorization: string | undefined }[] = []
  let status = 200

  async function start(port = 0): Promise<number> {
    server = createServer((request, response) => {
      let text = ''
      request.on('data', (chunk) => {
        text += chunk
      })
      request.on('end', () => {
        if (status === 200) {
          got.push({ operation: JSON.parse(text).operation, authorization: request.headers.authorization })
        }
        response.writeHead(status, { location: 'http://127.0.0.1:1/elsewhere', connection: 'close' }).end()
      })
    })
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  }

  afterEach(() => {
    got.length = 0
    status = 200
    server.closeAllConnections()
    server.close()
  })

  const operations = () => got.map(({ operation }) => operation)

  it('gets entries in order, with its token', async () => {
    const url = `http://127.0.0.1:${await start()}/hook`
    const log = auditLogOver([auditWebhook({ url, token: 'secret-of-the-hook', warn: () => {} })], () => {})
    for (let i = 0; i < 20; i++) await log.record(entry(`Op${i}`))
    await expect.poll(operations).toEqual(Array.from({ length: 20 }, (_, i) => `Op${i}`))
    expect(got[0]?.authorization).toBe('Bearer secret-of-the-hook')
    await log.close()
  })

  it.each([500, 302])('that answers %d holds up no change, and gets everything later', async (failing) => {
    const url = `http://127.0.0.1:${await start()}/hook`
    const warnings: string[] = []
    const log = auditLogOver(
      [auditWebhook({ url, token: undefined, warn: (message) => warnings.push(message) })],
      () => {},
    )
    status = failing
    await log.record(entry('First'))
    await log.record(entry('Second'))
    await expect.poll(() => warnings).toEqual([expect.stringContaining('they wait')])
    expect(operations()).toEqual([])
    status = 200
    await expect.poll(operations).toEqual(['First', 'Second'])
    await log.close()
  })

  it('that is away for too long loses the newest entries, and the operator hears of it', async () => {
    const url = `http://127.0.0.1:${await start()}/hook`
    const warnings: string[] = []
    const log = auditLogOver(
      [auditWebhook({ url, token: undefined, queueMax: 10, warn: (message) => warnings.push(message) })],
      () => {},
    )
    status = 503
    for (let i = 0; i < 15; i++) await log.record(entry(`Op${i}`))
    status = 200
    await expect.poll(() => got.length).toBe(10)
    await expect.poll(() => warnings.at(-1)).toMatch(/^5 entries/)
    expect(operations().at(-1)).toBe('Op9')
    await log.close()
  })
})
