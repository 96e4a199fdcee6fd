/** What `askAdmin` makes of refusals: what is wrong, and what to do. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { z } from 'zod'
import { askAdmin } from '../../../src/cli/admin/admin-client.ts'

let server: Server | undefined
afterEach(() => server?.close())

async function refusalOf(code: string): Promise<unknown> {
  server = createServer((_, response) => response.writeHead(403).end(JSON.stringify({ code, message: 'No.' })))
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const key = { accessKeyId: 'my-key', secretAccessKey: 'canary-secret' }
  return askAdmin({ url, key, region: 'us-east-1' }, { method: 'GET', path: ['v1'] }, z.unknown()).catch(String)
}

test.each([
  ['SignatureDoesNotMatch', /: No\. The request was signed with the key 'my-key': set HOLDFAST_ACCESS_KEY_ID and /],
  ['InvalidAccessKeyId', /: No\. The request was signed with the key 'my-key': set HOLDFAST_ACCESS_KEY_ID and /],
  ['RequestTimeTooSkewed', /: No\. Set the clock of this machine, or that of the server\.$/],
  ['NoSuchEntity', /: No\.$/],
])('the refusal %s says what to do', async (code, message) => {
  const said = await refusalOf(code)
  expect(said).toMatch(message)
  expect(said).not.toContain('canary-secret')
})
