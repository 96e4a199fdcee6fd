/** The log of a server whose log can't be written: a full device, a pipe that nobody reads. Requests are answered all the same. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, createReadStream } from 'node:fs'
import { open, readFile, rename, writeFile } from 'node:fs/promises'
import { get } from 'node:http'
import { createInterface } from 'node:readline'
import { describe, expect, test } from 'vitest'
import { keyVariables, program, run, serve } from './holdfast-process.ts'
import { openWorkplace } from './workplace.ts'

const place = openWorkplace('log')

const words = (...more: string[]): string[] => [
  'serve',
  '--data',
  place.path('data'),
  '--listen',
  '127.0.0.1:0',
  '--log-level',
  'info',
  ...more,
]

/** Each makes a log line of some three thousand bytes, and comes on a connection of its own, so that workers take turns. */
async function refusedRequests(endpoint: string, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent++) {
    const [answer] = await once(get(`${endpoint}/bucket/${sent}-${'k'.repeat(3000)}`, { agent: false }), 'response')
    expect(answer.resume().statusCode).toBe(403)
  }
}

async function pipe(): Promise<{ path: string; unread: number; close(): Promise<void> }> {
  const path = place.path('pipe')
  execFileSync('mkfifo', [path])
  const both = await open(path, constants.O_RDWR)
  return { path, unread: both.fd, close: () => both.close() }
}

describe.runIf(process.platform === 'linux')('a log that takes nothing', () => {
  test.each(['1', '2'])('on a full device, ends nothing; workers: %s', async (workers) => {
    const full = await open('/dev/full', 'w')
    const running = await serve(words('--workers', workers), keyVariables, { stderr: full.fd })
    await refusedRequests(running.ready.endpoint, 20)
    running.child.kill('SIGTERM')
    expect(await running.ended).toMatchObject({ code: 0 })
    await full.close()
  })

  test.each(['1', '2'])(
    'as a pipe that nobody reads, hangs nothing, and says later what is missing; workers: %s',
    async (workers) => {
      const log = await pipe()
      const running = await serve(words('--workers', workers), keyVariables, { stderr: log.unread })
      const requests = 1000
      await refusedRequests(running.ready.endpoint, requests)

      let seen = 0
      let dropped = 0
      const lines = createInterface({ input: createReadStream(log.path) })
      for await (const line of lines) {
        const said: { msg: string; dropped?: number } = JSON.parse(line)
        if (said.msg === 'request') seen++
        dropped += said.dropped ?? 0
        if (seen + dropped >= requests) break
      }
      expect(dropped).toBeGreaterThan(0)
      expect(seen).toBeGreaterThan(0)
      running.child.kill('SIGTERM')
      expect(await running.ended).toMatchObject({ code: 0 })
      await log.close()
    },
  )

  test('as a socket that nobody reads, hangs nothing', async () => {
    const running = await serve(words(), keyVariables, { stderr: 'unread' })
    await refusedRequests(running.ready.endpoint, 500)
    running.child.kill('SIGTERM')
    expect(await running.ended).toMatchObject({ code: 0 })
  })

  test('gives way to an exit, whose line gets out where it can', async () => {
    const log = await pipe()
    const fatal = (times: number): string => `
      import { exitOnFatal, openLog } from ${JSON.stringify(program('cli/log.js'))}
      const log = openLog({ logLevel: 'info' })
      for (let i = 0; i < ${times}; i++) log.info('x'.repeat(1000))
      exitOnFatal(log, new Error('canary'))`
    const ending = (times: number) =>
      once(
        spawn(process.execPath, ['--input-type=module', '-e', fatal(times)], {
          stdio: ['ignore', 'ignore', log.unread],
        }),
        'exit',
      )
    expect(await ending(1)).toEqual([1, null])
    expect(await ending(500)).toEqual([1, null])
    const [, last] = await firstLines(log.path, 2)
    expect(JSON.parse(last ?? '')).toMatchObject({ level: 60, err: { message: 'canary' } })
    await log.close()
  })
})

async function firstLines(path: string, count: number): Promise<string[]> {
  const lines: string[] = []
  for await (const line of createInterface({ input: createReadStream(path) })) {
    lines.push(line)
    if (lines.length === count) break
  }
  return lines
}

describe('--log-file', () => {
  test('takes the lines, of a server and its workers, and is opened anew on SIGHUP', async () => {
    const file = place.path('holdfast.log')
    const running = await serve(words('--workers', '2', '--log-file', file))
    await refusedRequests(running.ready.endpoint, 4)
    await rename(file, `${file}.1`)
    running.child.kill('SIGHUP')
    while (!(await readFile(file, 'utf8').catch(() => '')).includes('was read again'))
      await refusedRequests(running.ready.endpoint, 1)
    while (pidsOf(await readFile(file, 'utf8')).size < 3) await refusedRequests(running.ready.endpoint, 1)
    running.child.kill('SIGTERM')
    expect(await running.ended).toMatchObject({ code: 0, stderr: '' })
    expect(await readFile(`${file}.1`, 'utf8')).toContain('"msg":"request"')
    expect(await readFile(file, 'utf8')).toContain('finishing the requests under way')
  })

  test('that a changed configuration no longer names gives its lines back to stderr', async () => {
    const [file, config] = [place.path('holdfast.log'), place.path('holdfast.toml')]
    const settings = 'data = "data"\nlisten = "127.0.0.1:0"\nlogLevel = "info"\n'
    await writeFile(config, `${settings}logFile = "holdfast.log"\n`)
    const running = await serve(['serve', '--config', config])
    await writeFile(config, settings)
    running.child.kill('SIGHUP')
    expect(await running.logged((line) => line.includes('was read again'))).toBeDefined()
    running.child.kill('SIGTERM')
    expect(await running.ended).toMatchObject({ code: 0, stderr: expect.stringContaining('finishing the requests') })
    expect(await readFile(file, 'utf8')).not.toContain('was read again')
  })

  test('that can not be opened is refused by name', async () => {
    const outcome = await run(words('--log-file', place.path('none', 'x.log')), keyVariables).ended
    expect(outcome).toMatchObject({ code: 2, stdout: '' })
    expect(outcome.stderr).toMatch(
      /^holdfast: --log-file: cannot open .*x\.log: there is no such file or directory.*\n$/,
    )
  })
})

function pidsOf(log: string): Set<number> {
  const lines = log.split('\n').filter((line) => line.includes('"msg":'))
  return new Set(lines.map((line) => JSON.parse(line).pid))
}
