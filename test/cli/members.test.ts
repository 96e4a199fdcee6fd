/** What `holdfast members` shows: a table for shared metadata, and the owner of a data directory. */
import { expect, it } from 'vitest'
import { clockWarning, memberTable } from '../../src/cli/members.ts'
import type { ListedMember } from '../../src/members/list-members.ts'
import { keyVariables, run, serve } from './holdfast-process.ts'
import { openWorkplace } from './workplace.ts'

const place = openWorkplace('members')

const nowMs = Date.UTC(2026, 0, 2)
const memberOf = (more: Partial<ListedMember>): ListedMember => ({
  id: 'ab12',
  kind: 'server',
  host: 'one',
  pid: 7,
  sinceMs: nowMs - 3 * 3_600_000,
  leaseLeftMs: 8400,
  clockAheadMs: 0,
  ...more,
})

it('shows age, lease, difference of the clock and the maintainer in columns', () => {
  const rows = [
    memberOf({ address: 'http://one:9000', maintainer: 12 }),
    memberOf({ host: 'another', pid: 12_345, sinceMs: nowMs - 90_000, leaseLeftMs: -2000, clockAheadMs: -1500 }),
  ]
  expect(memberTable(rows, nowMs)).toEqual([
    'KIND    HOST     PID    ADDRESS          AGE   LEASE           CLOCK   MAINTAINER  ID',
    'server  one      7      http://one:9000  3 h   8.4 s           +0.0 s  number 12   ab12',
    'server  another  12345  -                90 s  over for 2.0 s  -1.5 s  -           ab12',
  ])
})

it.each([
  [999, []],
  [-999, []],
  [1000, [expect.stringContaining('1.0 s ahead of')]],
  [-2500, [expect.stringContaining('one (server 7) is 2.5 s behind')]],
])('warns of a clock that is %i ms ahead: %j', (clockAheadMs, warnings) => {
  expect(clockWarning(memberOf({ clockAheadMs }))).toEqual(warnings)
})

it('shows the server that owns a data directory, and that none does', async () => {
  const data = place.path('data')
  const server = await serve(['serve', '--data', data, '--listen', '127.0.0.1:0'])
  const members = (...words: string[]) => run(['members', '--data', data, ...words], keyVariables).ended
  const { code, stdout } = await members('--json')
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ event: 'member', kind: 'server', pid: server.ready.pid })
  expect((await members()).stdout).toMatch(
    new RegExp(`^KIND +HOST +PID +AGE\nserver +\\S+ +${server.ready.pid} +\\d+ s\n$`),
  )
  server.child.kill('SIGTERM')
  await server.ended
  expect(await members()).toMatchObject({ code: 0, stdout: 'no server runs\n' })
})
