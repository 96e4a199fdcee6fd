/** What operators ask servers over PostgreSQL, and what they change while the servers run: clocks, locations, accounts, keys. */
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { expect, it } from 'vitest'
import { describeInstalled } from '../support/installed.ts'
import { postgresProbe } from '../support/postgres.ts'
import { openGatewayWorkplace } from './gateway-workplace.ts'
import { lastEvent, type Outcome, run, serve } from './holdfast-process.ts'

const Bucket = 'photos'

describeInstalled('operators of servers over PostgreSQL', [postgresProbe], () => {
  const place = openGatewayWorkplace('operators')
  const { variables } = place
  const start = (host: string, more: Record<string, string> = {}) =>
    serve(['serve', '--data', place.path(host), '--listen', '127.0.0.1:0'], { ...variables, ...more })
  const command = (host: string, ...words: string[]): Promise<Outcome> =>
    run([...words, '--data', place.path(host)], variables).ended
  /** A first server with a key ring, and a second one with a copy of it. */
  const startTwo = async () => {
    const a = await start('a')
    await mkdir(place.path('b'))
    await writeFile(place.path('b', 'holdfast.json'), await readFile(place.path('a', 'holdfast.json')))
    await copyFile(place.path('a', 'keys'), place.path('b', 'keys'))
    return { a, b: await start('b') }
  }

  it('see the members in a table, and whose clock decides, and learn that there is no location default', async () => {
    const { ready } = await start('a')
    await place.clientOf(ready.endpoint).send(new CreateBucketCommand({ Bucket }))
    const { stdout } = await command('a', 'members')
    expect(stdout).toMatch(/^KIND +HOST +PID +ADDRESS +AGE +LEASE +CLOCK +MAINTAINER +ID$/m)
    expect(stdout).toMatch(new RegExp(`^server +\\S+ +${ready.pid} `, 'm'))
    const clock = await command('a', 'clock')
    expect(clock.stdout).toContain('the database says')
    expect(clock.stdout).not.toContain('machine')
    for (const words of [
      ['locations', 'move', Bucket, 'default'],
      ['locations', 'plan', Bucket, 'default'],
    ]) {
      expect(await command('a', ...words)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("no location 'default'"),
      })
    }
  })

  it('give a new key to every server before it is used', async () => {
    const { a, b } = await startTwo()
    const [first, second] = [a, b].map(({ ready }) => place.clientOf(ready.endpoint))
    if (first === undefined || second === undefined) throw new Error('two servers were started')
    await first.send(new CreateBucketCommand({ Bucket }))
    const sealed = { Bucket, Key: 'sealed', Body: 'secret', ServerSideEncryption: 'AES256' } as const
    await first.send(new PutObjectCommand(sealed))
    expect(await command('a', 'key-ring', '--rotate', 'sse-s3')).toMatchObject({ code: 0 })
    const refused = await command('a', 'key-ring', '--rewrap')
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/lacks key \S+ of sse-s3: copy/) })
    await copyFile(place.path('a', 'keys'), place.path('b', 'keys'))
    const rewrapped = await command('a', 'key-ring', '--rewrap', '--json')
    expect(rewrapped).toMatchObject({ code: 0 })
    expect(lastEvent(rewrapped)).toMatchObject({ encrypted: 1, rewrapped: 1 })
    for (const client of [first, second]) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: 'sealed' }))
      expect(await Body?.transformToString()).toBe('secret')
    }
  })

  it('learn that another server has other accounts, when a server reads its own again', async () => {
    const { a } = await startTwo()
    const account = `[[accounts]]\nid = "ann"\n[[accounts.keys]]\naccessKeyId = "ann-key"\nsecretAccessKey = "canary-secret-of-ann"\n`
    await place.configure(account)
    a.child.kill('SIGHUP')
    await a.logged((line) => line.includes('accounts of this configuration differ'))
    expect(a.output.stderr).not.toContain('canary')
  })
})
