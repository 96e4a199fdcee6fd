/** Where log lines go when the target changes while something of it is stuck. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, openSync } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { logFile, openLogSink } from '../../src/cli/log-sink.ts'
import { program } from './holdfast-process.ts'
import { openWorkplace } from './workplace.ts'

const { path } = openWorkplace('log-sink')

const noneDropped = (count: number): string => `${count} dropped\n`
const lines = (count: number): string[] => Array.from({ length: count }, (_, i) => `${i} ${'x'.repeat(1000)}\n`)

/** That nobody reads, and that is written to without waiting. */
function fullPipe(): number {
  execFileSync('mkfifo', [path('pipe')])
  return openSync(path('pipe'), constants.O_RDWR | constants.O_NONBLOCK)
}

test.skipIf(process.platform === 'win32')(
  'a line that the old target takes a part of goes to the new one whole, and so do those after it',
  async () => {
    const fd = fullPipe()
    const sent = lines(200)
    const sink = openLogSink({ fd, writeBytesMax: 1_000_000 }, noneDropped)
    for (const line of sent) sink.write(line)
    // The pipe takes some of them, not all.
    await sink.flush(50)
    sink.redirect(logFile(path('new.log')))
    await sink.flush(10_000)
    const kept = await readFile(path('new.log'), 'utf8')
    const taken = Number(kept.split(' ')[0])
    expect(taken).toBeGreaterThan(0)
    expect(kept).toBe(sent.slice(taken).join(''))
  },
)

test('a file that is opened again without having moved gets no line twice', async () => {
  const sent = lines(200)
  const sink = openLogSink(logFile(path('same.log')), noneDropped)
  for (const [i, line] of sent.entries()) {
    sink.write(line)
    if (i % 50 === 0) sink.redirect(logFile(path('same.log')))
  }
  await sink.flush(10_000)
  expect(await readFile(path('same.log'), 'utf8')).toBe(sent.join(''))
})

test('stderr is never closed, however often lines are led to it', async () => {
  const stderr = await open(path('stderr.log'), 'a')
  const code = `
    import { logFile, openLogSink, standardError } from ${JSON.stringify(program('cli/log-sink.js'))}
    const sink = openLogSink(logFile(${JSON.stringify(path('first.log'))}), () => '')
    sink.write('first\\n')
    for (let i = 0; i < 3; i++) sink.redirect(standardError())
    await sink.flush(2_000)
    sink.write('second\\n')
    await sink.flush(2_000)
    console.error('third')`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'ignore', stderr.fd],
  })
  expect(await once(child, 'exit')).toEqual([0, null])
  await stderr.close()
  expect(await readFile(path('first.log'), 'utf8')).toBe('first\n')
  expect(await readFile(path('stderr.log'), 'utf8')).toBe('second\nthird\n')
})
