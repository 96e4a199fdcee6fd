/** What `holdfast doctor` finds between a client and the server: proxies that break one thing each, and nginx as it is often set up. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { ListBucketsCommand } from '@aws-sdk/client-s3'
import { afterEach, describe, expect, test } from 'vitest'
import { known } from '../../src/known.ts'
import { freePort } from '../support/free-port.ts'
import { describeInstalled } from '../support/installed.ts'
import { environmentKey, keyVariables, type Outcome, run, serve } from './holdfast-process.ts'
import { openWorkplace } from './workplace.ts'

const place = openWorkplace('doctor')
const page = readFileSync('docs/proxies.md', 'utf8')
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function start(...more: string[]): Promise<string> {
  const { ready } = await serve(['serve', '--data', place.path('data'), '--listen', '127.0.0.1:0', ...more])
  return ready.endpoint
}

const doctor = (url: string, variables: Record<string, string> = {}, ...more: string[]): Promise<Outcome> =>
  run(['doctor', url, ...more], { ...keyVariables, ...variables }).ended

interface Passed {
  method: string
  path: string
  headers: OutgoingHttpHeaders
}

/** A proxy that passes requests on with a change. The URL of the proxy. */
async function proxyOf(
  endpoint: string | (() => string),
  change: (passed: Passed) => Partial<Passed>,
): Promise<string> {
  const upstream = (): URL => new URL(typeof endpoint === 'string' ? endpoint : endpoint())
  const proxy: Server = createServer((request: IncomingMessage, response) => {
    const passed = { method: request.method ?? '', path: request.url ?? '', headers: { ...request.headers } }
    const { method, path, headers } = { ...passed, ...change(passed) }
    const { hostname, port } = upstream()
    const onward = httpRequest({ host: hostname, port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    request.pipe(onward)
  })
  proxy.on('checkContinue', (request, response) => proxy.emit('request', request, response))
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  closing.push(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  return `http://localhost:${(proxy.address() as AddressInfo).port}`
}

describe('a server that is reached', () => {
  test('directly is well, and nothing has been made in it', async () => {
    const endpoint = await start()
    const { code, stdout } = await doctor(endpoint)
    expect([code, stdout.split('\n').filter((line) => /^[✗!]/.test(line))]).toEqual([0, []])
    expect(stdout).toContain('✓ large bodies: bodies of 5 GiB are let through')
    expect(stdout).toContain('✓ chunked uploads')
    const { Buckets } = await place.clientOf(endpoint).send(new ListBucketsCommand({}))
    expect(Buckets ?? []).toEqual([])
  })

  test('with another secret is known to have another one', async () => {
    const endpoint = await start()
    const { code, stdout } = await doctor(endpoint, { HOLDFAST_SECRET_ACCESS_KEY: 'canary-secret-of-strangers' })
    expect([code, stdout]).toEqual([1, expect.stringContaining('The secret key is another one')])
    expect(stdout).not.toContain('canary-secret')
    // Nothing more can be found out.
    expect(stdout).not.toContain('paths')
  })

  test('with a key that it does not know says so', async () => {
    const { stdout } = await doctor(await start(), { HOLDFAST_ACCESS_KEY_ID: 'another-key' })
    expect(stdout).toBe('✗ signature: the server does not know the access key another-key\n')
  })

  test('at its admin port is told which port it is', async () => {
    const { ready } = await serve([
      'serve',
      '--data',
      place.path('admin'),
      '--listen',
      '127.0.0.1:0',
      '--admin-listen',
      '127.0.0.1:0',
    ])
    const { code, stdout } = await doctor(`${ready.adminEndpoint}`)
    expect([code, stdout]).toEqual([1, `✗ signature: This is the admin port. S3 is at ${ready.endpoint}.\n`])
  })

  test('at a port where nobody listens says so', async () => {
    const { code, stdout } = await doctor('http://127.0.0.1:1')
    expect([code, stdout]).toEqual([1, expect.stringContaining('ECONNREFUSED')])
  })
})

describe('a proxy', () => {
  test.each<[string, (passed: Passed) => Partial<Passed>, RegExp]>([
    [
      'that changes the Host',
      ({ headers }) => ({ headers: { ...headers, host: 'upstream' } }),
      /✗ signature: the header host was changed on the way: sent 'localhost:\d+', arrived 'upstream'\n.*--public-endpoint/,
    ],
    [
      'that merges slashes',
      ({ path }) => ({ path: path.replace(/\/\/+/g, '/') }),
      /✗ paths: path was changed on the way/,
    ],
    [
      'that adds to the query',
      ({ path }) => ({ path: `${path}${path.includes('?') ? '&' : '?'}utm=1` }),
      /✗ signature: query was changed on the way: sent '', arrived 'utm=1'/,
    ],
    [
      'that turns HEAD into GET',
      ({ method }) => ({ method: method === 'HEAD' ? 'GET' : method }),
      /✗ HEAD: HEAD is refused/,
    ],
    ['that drops long headers', ({ headers: { 'x-amz-meta-long': _, ...headers } }) => ({ headers }), /✗ headers: .*/],
  ])('%s', async (_, change, finding) => {
    const { code, stdout } = await doctor(await proxyOf(await start(), change))
    expect([code, stdout]).toEqual([1, expect.stringMatching(finding)])
  })

  test('is named as docs/proxies.md shows it', async () => {
    const merging = ({ path }: Passed) => ({ path: path.replace(/\/\/+/g, '/') })
    const { stdout } = await doctor(await proxyOf(await start(), merging))
    const shown = known(/```console\n\$ holdfast doctor .*\n([\s\S]*?)```/.exec(page)?.[1])
    for (const line of shown.trim().split('\n')) expect(stdout).toContain(line.replace(/sent .*/, ''))
  })

  test('that answers by itself', async () => {
    const page = createServer((_, response) =>
      response.writeHead(502, { server: 'gate' }).end('<html>Bad gateway</html>'),
    )
    page.listen(0, '127.0.0.1')
    await once(page, 'listening')
    closing.push(() => page.close())
    const { stdout } = await doctor(`http://127.0.0.1:${(page.address() as AddressInfo).port}`)
    expect(stdout).toBe('✗ signature: something on the way answers 502, not the server\n  It calls itself gate.\n')
  })

  test('whose host is named in the configuration is well, and the log says why it would not be', async () => {
    const toUpstream = ({ headers }: Passed) => ({
      headers: { ...headers, 'x-forwarded-host': String(headers.host), host: 'upstream' },
    })
    const server = await serve([
      'serve',
      '--data',
      place.path('data'),
      '--listen',
      '127.0.0.1:0',
      '--log-level',
      'info',
    ])
    let { endpoint } = server.ready
    const url = await proxyOf(() => endpoint, toUpstream)
    expect((await doctor(url)).code).toBe(1)
    const line = await server.logged((candidate) => candidate.includes('SignatureDoesNotMatch'))
    expect(JSON.parse(line).reason).toMatch(
      /^it was signed for the host localhost:\d+, and arrived with the host upstream: .*--public-endpoint/,
    )
    server.child.kill('SIGTERM')
    await server.ended
    endpoint = await start('--public-endpoint', url)
    const { code, stdout } = await doctor(url)
    expect([code, stdout]).toEqual([0, expect.stringContaining('✓ paths')])
  })
})

describe('a program', () => {
  test('reads the findings as JSON', async () => {
    const endpoint = await start('--domain', 's3.example.com')
    const { stdout } = await doctor(endpoint, {}, '--json')
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(events[0]).toEqual({ event: 'check', endpoint, check: 'signature', state: 'well', says: expect.any(String) })
    expect(events.map(({ check }) => check)).toContain('bucket in the host')
  })
})

describeInstalled('nginx', [['nginx', '-v']], () => {
  let nginx: ChildProcess | undefined
  afterEach(async () => {
    if (nginx === undefined) return
    nginx.kill('SIGTERM')
    await once(nginx, 'exit')
  })

  /** `location`: with `UPSTREAM` for the server's address. */
  async function behindNginx(server: string, endpoint: string): Promise<string> {
    const folder = place.path('nginx')
    mkdirSync(folder)
    const port = await freePort()
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    )
    const block = server
      .replace(/listen [^;]+;\s*server_name [^;]+;/, `listen 127.0.0.1:${port};`)
      .replace('127.0.0.1:9000', new URL(endpoint).host)
    writeFileSync(
      place.path('nginx.conf'),
      `${process.getuid?.() === 0 ? 'user root; ' : ''}daemon off; pid ${folder}/pid; error_log stderr; worker_processes 1;\nevents {}\nhttp { access_log off; ${temporary.join(' ')}\n${block}\n}\n`,
    )
    nginx = spawn('nginx', ['-e', 'stderr', '-c', place.path('nginx.conf')], { stdio: 'ignore' })
    const url = `http://localhost:${port}`
    await expect
      .poll(
        () =>
          fetch(url).then(
            () => true,
            () => false,
          ),
        { interval: 50 },
      )
      .toBe(true)
    return url
  }

  const ofGuide = known(/```nginx\n([\s\S]*?)```/.exec(page)?.[1])

  test('as the guide sets it up is well', async () => {
    const url = await behindNginx(ofGuide, await start('--trusted-proxy', '127.0.0.1'))
    const { code, stdout } = await doctor(url)
    expect([code, stdout.split('\n').filter((line) => /^[✗!]/.test(line))]).toEqual([0, []])
  })

  test.each<[string, string, RegExp]>([
    [
      'as it is out of the box',
      'location / { proxy_pass http://127.0.0.1:9000; }',
      /✗ signature: the header host was changed/,
    ],
    [
      'with a path in proxy_pass',
      'location / { proxy_pass http://127.0.0.1:9000/; proxy_set_header Host $http_host; }',
      /✗ paths: path was changed/,
    ],
    [
      'with its limit of bodies',
      'location / { proxy_pass http://127.0.0.1:9000; proxy_set_header Host $http_host; }',
      /✗ large bodies: .* \(413\)\n.*client_max_body_size 0/,
    ],
    [
      'that buffers bodies',
      'client_max_body_size 0; location / { proxy_pass http://127.0.0.1:9000; proxy_set_header Host $http_host; }',
      /! large bodies: .*\n.*proxy_request_buffering off/,
    ],
  ])('%s', async (_, location, finding) => {
    const url = await behindNginx(`server { listen 80; server_name _; ${location} }`, await start())
    expect((await doctor(url)).stdout).toMatch(finding)
  })
})

test('the secret of the tests is in no output', async () => {
  const { stdout, stderr } = await doctor(await start())
  expect(stdout + stderr).not.toContain(environmentKey.secretAccessKey)
})
