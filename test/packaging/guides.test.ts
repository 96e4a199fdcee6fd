/** Runs the commands of the guides in docs/guides as a reader would: in order, each block in a shell of its own, in one directory. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { main } from '../cli/holdfast-process.ts'
import { freePort } from '../support/free-port.ts'
import { describeInstalled } from '../support/installed.ts'

const guides = fileURLToPath(new URL('../../docs/guides/', import.meta.url))

let directory: string
/** In place of 9000, 9001 and 9100, which the guides name. */
let ports: Record<string, number>
const running = new Set<ChildProcess>()

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-guides-'))
  ports = { 9000: await freePort(), 9001: await freePort(), 9100: await freePort() }
  // `npx holdfast` runs the program that was built here.
  mkdirSync(join(directory, 'bin'))
  writeFileSync(join(directory, 'bin', 'npx'), `#!/bin/sh\nshift\nexec "${process.execPath}" "${main}" "$@"\n`)
  chmodSync(join(directory, 'bin', 'npx'), 0o755)
})
afterEach(async () => {
  for (const { pid } of running) {
    // The shell and what it runs are a group.
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  }
  running.clear()
  rmSync(directory, { recursive: true, force: true, maxRetries: 20 })
})

interface Shell {
  child: ChildProcess
  output(): string
  ended: Promise<number | null>
}

/** Stops at the first command that fails. */
function shell(commands: string): Shell {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', commands], {
    cwd: directory,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: `${directory}/bin:${process.env.PATH}`,
      HOME: directory,
      AWS_EC2_METADATA_DISABLED: 'true',
      HOLDFAST_ADMIN_LISTEN: `127.0.0.1:${ports[9001]}`,
    },
  })
  running.add(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk))
  const ended = once(child, 'close').then(([code]) => {
    running.delete(child)
    return code
  })
  return { child, output: () => output, ended }
}

async function serve(commands: string): Promise<void> {
  const { output, ended } = shell(commands)
  let isOver = false
  void ended.then(() => {
    isOver = true
  })
  await expect.poll(() => isOver || /^ready /m.test(output())).toBe(true)
  expect(isOver, output()).toBe(false)
}

const blocksOf = (guide: string): string[] =>
  [...readFileSync(join(guides, guide), 'utf8').matchAll(/^```sh\n(.*?)^```/gms)].map(([, text = '']) =>
    text.replaceAll(/127\.0\.0\.1:(9\d0\d)/g, (_, port) => `127.0.0.1:${ports[port]}`),
  )

/** The exports of earlier blocks hold in later ones, as in one terminal. A block that ends with a server is another terminal. */
async function follow(guide: string, change: (block: string) => string = (block) => block): Promise<string> {
  let variables = ''
  let said = ''
  for (const written of blocksOf(guide)) {
    const listen = ` serve --listen 127.0.0.1:${ports[9000]}`
    const block = change(written).replace(/ serve(?= --data \.)/, listen)
    if (/(?:^|\n)npx holdfast server? .*$/.test(block.trimEnd())) {
      await serve(block)
      continue
    }
    const { output, ended } = shell(variables + block)
    expect(await ended, `${block}\n${output()}`).toBe(0)
    said += output()
    variables += block
      .split('\n')
      .filter((line) => line.startsWith('export '))
      .join('\n')
      .concat('\n')
  }
  return said
}

/** The server that data comes from. */
async function oldServer(): Promise<void> {
  await serve(
    `HOLDFAST_ADMIN_LISTEN=off HOLDFAST_ACCESS_KEY_ID=old-key HOLDFAST_SECRET_ACCESS_KEY=secret-of-the-old-server npx holdfast serve --data old --listen 127.0.0.1:${ports[9100]}`,
  )
  const { ended, output } =
    shell(`export AWS_ACCESS_KEY_ID=old-key AWS_SECRET_ACCESS_KEY=secret-of-the-old-server AWS_REGION=us-east-1 AWS_ENDPOINT_URL=http://127.0.0.1:${ports[9100]}
echo bill > bill; aws s3 mb s3://invoices; aws s3 cp bill s3://invoices/2025/bill.txt --metadata paid=no`)
  expect(await ended, output()).toBe(0)
}

describeInstalled(
  'what the guides use',
  [
    ['aws', '--version'],
    ['openssl', 'version'],
  ],
  () => {
    test('five minutes', async () => {
      expect(await follow('five-minutes.md')).toMatch(/2026\/cat\.txt[\s\S]*meow/)
    })

    test('from MinIO', async () => {
      await oldServer()
      expect(await follow('from-minio.md')).toMatch(/invoices: 1 version copied/)
    })

    test('from AWS', async () => {
      await oldServer()
      // There is no AWS here: the old server stands for it.
      const old = `http://127.0.0.1:${ports[9100]}`
      const said = await follow('from-aws.md', (block) => block.replace('https://s3.eu-central-1.amazonaws.com', old))
      expect(said).toMatch(/"VersionId"[\s\S]*invoices to invoices-copy: 1 version copied/)
    })

    test('backup', async () => {
      expect(await follow('backup.md')).toMatch(/\.holdfast|records/)
    })

    test('security', async () => {
      expect(await follow('security.md')).toContain('aws:kms')
    })

    test('tests in CI', async () => {
      expect(await follow('tests-in-ci.md')).toContain('photos')
    })
  },
)
