import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { keyVariables, killLeftovers, lastEvent, run, serve } from './holdfast-process.ts'

let root: string
let server: Server | undefined
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-health-'))
})
afterEach(async () => {
  await killLeftovers()
  server?.closeAllConnections()
  server?.close()
  await rm(root, { recursive: true, force: true, maxRetries: 20 })
})

const listening = async (status: number): Promise<string> => {
  server = createServer((_, response) => response.writeHead(status).end())
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('a server that takes requests is ready, until it is stopped', async () => {
  const { ready, child, ended } = await serve(['serve', '--data', root, '--listen', '127.0.0.1:0'], keyVariables)
  // Configured as in a container: by the variable that the server itself reads, and listening on every interface.
  const variables = { HOLDFAST_LISTEN: `:${new URL(ready.endpoint).port}` }
  const before = await run(['health'], variables).ended
  expect(before).toMatchObject({ code: 0, stdout: `ready ${ready.endpoint}\n`, stderr: '' })
  child.kill('SIGTERM')
  await ended
  const after = await run(['health', '--json'], variables).ended
  expect(after.code).toBe(1)
  expect(lastEvent(after)).toMatchObject({
    event: 'health',
    ready: false,
    problem: expect.stringContaining('ECONNREFUSED'),
  })
})

test('a server that answers with an error is not ready', async () => {
  const outcome = await run(['health', '--listen', await listening(503)]).ended
  expect(outcome).toMatchObject({ code: 1, stdout: expect.stringMatching(/it answers with 503$/m) })
  const refusing = await run(['health', '--listen', await listening(400)]).ended
  expect(refusing).toMatchObject({ code: 1, stdout: expect.stringMatching(/400; if it speaks TLS, set --tls-cert/) })
})

test('a port that the system picked is refused as usage', async () => {
  await writeFile(join(root, 'holdfast.toml'), 'listen = "127.0.0.1:0"\n')
  const { code, stderr } = await run(['health', '--config', join(root, 'holdfast.toml')]).ended
  expect(code).toBe(2)
  expect(stderr).toContain('--listen')
})
