/** What a server tells systemd, on a real datagram socket. */
import { spawn } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { describeInstalled } from '../../support/installed.ts'
import { keyVariables, killLeftovers, serve } from '../holdfast-process.ts'

/** Node has no datagram sockets in the Unix domain, so this program prints each message as a line of JSON. */
const listenerProgram = `
import json, socket, sys
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind(sys.argv[1])
print("listening", flush=True)
while True:
    # The file descriptors of a barrier are not taken, so the kernel closes them.
    print(json.dumps(listener.recv(65536).decode()), flush=True)
`

let root: string
let listener: Listener | undefined

interface Listener {
  /** The messages without those that only synchronise. */
  received: string[]
  close(): void
}

async function listenOn(path: string): Promise<Listener> {
  const child = spawn('python3', ['-c', listenerProgram, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  const received: string[] = []
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error('the listener ended')))
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line === 'listening') resolve()
      else if (!line.includes('BARRIER=1')) received.push(JSON.parse(line))
    })
  })
  return { received, close: () => void child.kill() }
}

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-notify-'))
})
afterEach(async () => {
  listener?.close()
  await killLeftovers()
  await rm(root, { recursive: true, force: true, maxRetries: 20 })
})

const words = (): string[] => ['serve', '--data', join(root, 'data'), '--listen', '127.0.0.1:0']
/** The first assignment in each message that is not a sign of life. */
const statesIn = (messages: readonly string[]): string[] =>
  messages.map((message) => message.split('\n')[0] ?? '').filter((state) => state !== 'WATCHDOG=1')

describeInstalled(
  'systemd',
  [
    ['systemd-notify', '--version'],
    ['python3', '--version'],
  ],
  () => {
    test('learns that the server serves, reads its configuration again, and stops', async () => {
      const socket = join(root, 'notify.sock')
      listener = await listenOn(socket)
      const { received } = listener
      const running = await serve([...words(), '--workers', '2'], { ...keyVariables, NOTIFY_SOCKET: socket })
      await expect.poll(() => statesIn(received)).toEqual(['READY=1'])
      expect(received[0]).toContain(`STATUS=serving S3 on ${running.ready.endpoint}`)

      running.child.kill('SIGHUP')
      await expect.poll(() => statesIn(received)).toEqual(['READY=1', 'RELOADING=1', 'READY=1'])

      running.child.kill('SIGTERM')
      expect((await running.ended).code).toBe(0)
      await expect.poll(() => statesIn(received)).toEqual(['READY=1', 'RELOADING=1', 'READY=1', 'STOPPING=1'])
    })

    test('hears signs of life of a server that it watches', async () => {
      const socket = join(root, 'notify.sock')
      listener = await listenOn(socket)
      const { received } = listener
      const variables = { ...keyVariables, NOTIFY_SOCKET: socket, WATCHDOG_USEC: '100000' }
      await serve(words(), variables)
      const signs = (): number => received.filter((message) => message.startsWith('WATCHDOG=1')).length
      await expect.poll(signs).toBeGreaterThan(2)
    })

    test('hears no signs of life from a process that it does not watch', async () => {
      const socket = join(root, 'notify.sock')
      listener = await listenOn(socket)
      const { received } = listener
      const running = await serve(words(), {
        ...keyVariables,
        NOTIFY_SOCKET: socket,
        WATCHDOG_USEC: '1000',
        WATCHDOG_PID: '1',
      })
      await expect.poll(() => statesIn(received)).toEqual(['READY=1'])
      running.child.kill('SIGTERM')
      await running.ended
      expect(received.join('\n')).not.toContain('WATCHDOG')
    })

    test('gets no secret of the server', async () => {
      const socket = join(root, 'notify.sock')
      listener = await listenOn(socket)
      // Runs in place of the real program and records its environment.
      const bin = join(root, 'bin')
      const seen = join(root, 'seen')
      await mkdir(bin)
      await writeFile(
        join(bin, 'systemd-notify'),
        `#!/bin/sh\nenv > ${seen}\nPATH=/usr/bin:/bin exec systemd-notify "$@"\n`,
      )
      await chmod(join(bin, 'systemd-notify'), 0o755)
      const variables = { ...keyVariables, NOTIFY_SOCKET: socket, PATH: `${bin}:${process.env.PATH}` }
      await serve(words(), variables)
      await expect.poll(() => listener?.received.length).toBe(1)
      const environment = await readFile(seen, 'utf8')
      expect(environment).toContain('NOTIFY_SOCKET=')
      expect(environment).not.toContain(keyVariables.HOLDFAST_SECRET_ACCESS_KEY)
    })
  },
)

test('a server whose systemd-notify is missing logs that, and serves', async () => {
  const variables = { ...keyVariables, NOTIFY_SOCKET: join(root, 'nobody.sock'), PATH: join(root, 'empty') }
  const running = await serve(words(), variables)
  await running.logged((line) => line.includes('systemd could not be told'))
  expect((await fetch(`${running.ready.endpoint}/minio/health/ready`)).status).toBe(200)
})
