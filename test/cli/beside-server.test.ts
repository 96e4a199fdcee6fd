/** Which commands work while a server runs on the data directory: all but those that by their nature need a stopped server. */
import { afterEach, expect, test } from 'vitest'
import { commands } from '../../src/cli/commands.ts'
import { keyVariables, run, serve } from './holdfast-process.ts'
import { openWorkplace } from './workplace.ts'

const place = openWorkplace('beside-server')

let server: Awaited<ReturnType<typeof serve>> | undefined
afterEach(async () => {
  server?.child.kill('SIGTERM')
  await server?.ended
})

const backupFile = (): string => place.path('a.backup')

/** Further words for each command, in the order in which the commands run. */
const working: Record<string, () => string[]> = {
  health: () => [],
  doctor: () => [],
  reclaim: () => [],
  orphans: () => [],
  clock: () => ['--confirm'],
  accounts: () => ['list'],
  users: () => ['list'],
  policies: () => ['list'],
  quotas: () => ['list'],
  replication: () => ['list'],
  keys: () => ['list'],
  'key-ring': () => ['--rotate', 'sse-s3'],
  access: () => ['status'],
  members: () => [],
  locations: () => ['claim', 'default'],
  scrub: () => [],
  repair: () => [],
  backup: () => [backupFile()],
}
const refusing: Record<string, () => string[]> = { restore: () => [backupFile()], recover: () => [] }
/** Servers, a command that needs no data, and those with suites of their own, because they need a database or another server. */
const others = ['serve', 'server', 'completion', 'migrate', 'import']

test('every command works beside a server, or says why the server must be stopped', async () => {
  expect([...others, ...Object.keys({ ...working, ...refusing })].sort()).toEqual(
    commands.map(({ name }) => name).sort(),
  )
  const words = ['serve', '--data', place.path('data'), '--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0']
  server = await serve(words)
  const { endpoint, adminEndpoint = '' } = server.ready
  const environment = {
    ...keyVariables,
    HOLDFAST_DATA: place.path('data'),
    HOLDFAST_LISTEN: new URL(endpoint).host,
    HOLDFAST_ADMIN_LISTEN: new URL(adminEndpoint).host,
  }
  const ended = (name: string, more: string[]) => run([name, ...more], environment).ended
  for (const [name, more] of Object.entries(working)) {
    const { code, stderr } = await ended(name, more())
    expect([
      name,
      code,
      stderr.replace(/^holdfast: (?:there are no [\w ]+|the key ring is not in the backup.*)\n/, ''),
    ]).toEqual([name, 0, ''])
  }
  for (const [name, more] of Object.entries(refusing)) {
    const why = `which would not notice the metadata that ${name} writes. Stop it first`
    expect([name, await ended(name, more())]).toEqual([
      name,
      expect.objectContaining({ code: 1, stderr: expect.stringContaining(why) }),
    ])
  }
})
