/** What commands change themselves is written down as a server writes down what it is asked for. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { audited } from '../../src/cli/audited-command.ts'

let directory = ''
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'audited-'))
  return () => rm(directory, { recursive: true, force: true })
})

const entry = { operation: 'RotateKeyRing', target: { key: 'sse-s3' } }
const invocation = (auditLog: string | undefined) => ({
  json: true,
  configuration: {
    data: join(directory, 'data'),
    auditLog,
    auditWebhook: undefined,
    auditWebhookToken: undefined,
    logLevel: 'silent' as const,
  },
})

it('a change is written down with what it changed, once it is made', async () => {
  const path = join(directory, 'audit.jsonl')
  const made = await audited(invocation(path), entry, async () => {
    expect(await readFile(path, 'utf8')).toBe('')
    return 'made'
  })
  expect(made).toBe('made')
  expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ ...entry, port: 'command', requestId: '' })
})

it('a change that fails is not written down', async () => {
  const path = join(directory, 'audit.jsonl')
  await expect(audited(invocation(path), entry, () => Promise.reject(new Error('refused')))).rejects.toThrow('refused')
  expect(await readFile(path, 'utf8')).toBe('')
})

it('nothing is changed while nothing can be written down', async () => {
  let isMade = false
  const change = async (): Promise<void> => {
    isMade = true
  }
  const elsewhere = invocation(join(directory, 'missing', 'audit.jsonl'))
  await expect(audited(elsewhere, entry, change)).rejects.toMatchObject({ code: 'ServiceUnavailable' })
  expect(isMade).toBe(false)
  await audited(invocation(undefined), entry, change)
  expect(isMade).toBe(true)
})
