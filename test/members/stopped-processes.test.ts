/** Real processes over a real PostgreSQL: SIGSTOP stops one until another has taken its post; then it continues. */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Kv } from '../../src/kv/kv.ts'
import { listMembers } from '../../src/members/list-members.ts'
import { bytes } from '../kv/text-entries.ts'
import { describeInstalled } from '../support/installed.ts'
import { PostgresServer, postgresProbe } from '../support/postgres.ts'
import { patientPostgres } from '../support/postgres-engine.ts'
import type { Report } from './member-child.ts'

// Child processes run what `npm run build` compiled, because Node 20 runs no TypeScript.
const script = fileURLToPath(new URL('../../dist/test/members/member-child.js', import.meta.url))

class Child {
  readonly process: ChildProcess
  readonly acknowledged: string[] = []
  readonly fatal: string[] = []

  constructor(url: string) {
    this.process = fork(script, [url])
    this.process.on('message', (report: Report) => {
      if (report.said === 'fatal') this.fatal.push(report.reason)
      else this.acknowledged.push(report.key)
    })
  }

  get pid(): number {
    return this.process.pid ?? 0
  }
}

describeInstalled('members as processes', [postgresProbe], () => {
  let server: PostgresServer
  let kv: Kv
  const children: Child[] = []
  beforeAll(async () => {
    server = await PostgresServer.start()
    kv = await patientPostgres({ url: server.url, connections: 4 })
  })
  afterEach(() => {
    for (const { process } of children.splice(0)) process.kill('SIGKILL')
  })
  afterAll(async () => {
    await kv?.close()
    await server?.remove()
  })

  const maintainer = async (): Promise<number | undefined> =>
    (await listMembers(kv)).find((member) => member.maintainer !== undefined)?.pid
  const written = async ({ pid }: Child): Promise<string[]> => {
    const entries = await kv.range({ start: bytes(`${pid}/`), end: bytes(`${pid}0`), limit: 1_000_000 })
    return entries.map(({ key }) => key.toString()).sort()
  }

  it('commit nothing after they were stopped for longer than their lease, and end', async () => {
    const [first, second] = [new Child(server.url), new Child(server.url)]
    children.push(first, second)
    await expect.poll(maintainer, { timeout: 20_000 }).toBeDefined()
    const [holder, heir] = (await maintainer()) === first.pid ? [first, second] : [second, first]
    const asMaintainer = (child: Child) => child.acknowledged.some((key) => key.includes('/maintainer '))
    await expect.poll(() => asMaintainer(holder), { timeout: 20_000 }).toBe(true)

    holder.process.kill('SIGSTOP')
    await expect.poll(maintainer, { timeout: 20_000 }).toBe(heir.pid)
    await expect.poll(() => asMaintainer(heir), { timeout: 20_000 }).toBe(true)
    const before = await written(holder)
    holder.process.kill('SIGCONT')
    const [code] = await once(holder.process, 'exit')

    expect(code).toBe(70)
    expect(holder.fatal).toEqual([expect.stringContaining('declared this process gone')])
    expect(await written(holder)).toEqual(before)
    expect(before).toEqual(expect.arrayContaining(holder.acknowledged))
    expect(heir.fatal).toEqual([])
  }, 120_000)
})
