/** The command line with a certificate: one process or several, and certificates that change under it. */
import { once } from 'node:events'
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { Agent, get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import {
  CreateBucketCommand,
  GetObjectCommand,
  HeadBucketCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { KeyPair } from '../../src/http/connections/tls-front.ts'
import { type Authority, makeAuthority, opensslProbe } from '../support/authority.ts'
import { describeInstalled } from '../support/installed.ts'
import { environmentKey, keyVariables, killLeftovers, type Running, run, serve } from './holdfast-process.ts'

describeInstalled('a server with a certificate', [opensslProbe], () => {
  let root: string
  let authority: Authority
  let files: KeyPair
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'holdfast-cli-tls-'))
    authority = makeAuthority(root)
    files = { cert: join(root, 'cert.pem'), key: join(root, 'key.pem') }
  })
  afterEach(async () => {
    await killLeftovers()
    await rm(root, { recursive: true, force: true, maxRetries: 20 })
  })

  async function put(pair: Partial<KeyPair>): Promise<void> {
    for (const name of ['key', 'cert'] as const) {
      const text = pair[name]
      if (text === undefined) continue
      await writeFile(`${files[name]}.new`, text)
      await rename(`${files[name]}.new`, files[name])
    }
  }
  const words = (...more: string[]): string[] => {
    const tls = ['--tls-cert', files.cert, '--tls-key', files.key]
    return ['serve', '--data', join(root, 'data'), '--listen', '127.0.0.1:0', ...tls, ...more]
  }

  function servedName(endpoint: string): Promise<unknown> {
    const { port, hostname: host } = new URL(endpoint)
    return new Promise((resolve, reject) => {
      const socket = connect({ port: Number(port), host, ca: authority.cert }, () => {
        resolve(socket.getPeerCertificate().subject.CN)
        socket.destroy()
      })
      socket.once('error', reject)
    })
  }
  /** Resolves when every process shows the certificate of that name: their turns follow each other. */
  async function serves(endpoint: string, name: string, processes: number): Promise<void> {
    for (let inTurn = 0; inTurn < processes; ) inTurn = (await servedName(endpoint)) === name ? inTurn + 1 : 0
  }
  async function said(running: Running, text: string): Promise<void> {
    while (!running.output.stderr.includes(text))
      await new Promise((resolve) => running.child.stderr?.once('data', resolve))
  }

  test.each([1, 2])('serves TLS, and takes new certificates as they come, workers: %i', async (workers) => {
    await put(authority.issue('first'))
    const running = await serve(words('--workers', String(workers), '--region', 'home-1', '--log-level', 'info'))
    const { endpoint } = running.ready
    expect(endpoint).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    const requestHandler = { httpsAgent: new Agent({ ca: authority.cert, keepAlive: true }) }
    const credentials = environmentKey
    const s3 = new S3Client({ endpoint, region: 'us-east-1', credentials, forcePathStyle: true, requestHandler })
    await s3.send(new CreateBucketCommand({ Bucket: 'bucket' }))
    expect(await s3.send(new HeadBucketCommand({ Bucket: 'bucket' }))).toMatchObject({ BucketRegion: 'home-1' })
    const bytes = Buffer.alloc(3_000_000, 'holdfast')
    await s3.send(new PutObjectCommand({ Bucket: 'bucket', Key: 'key', Body: bytes }))

    const second = authority.issue('second')
    await put({ key: second.key })
    await said(running, 'the old one stays in force')
    await serves(endpoint, 'first', workers)
    await put({ cert: second.cert })
    await serves(endpoint, 'second', workers)

    const { Body } = await s3.send(new GetObjectCommand({ Bucket: 'bucket', Key: 'key' }))
    expect(bytes.equals((await Body?.transformToByteArray()) ?? Buffer.alloc(0))).toBe(true)
    s3.destroy()
    running.child.kill('SIGTERM')
    const { code, stderr } = await running.ended
    expect(code).toBe(0)
    expect(stderr).not.toContain(second.key.split('\n')[1])
  })

  test.each([1, 2])(
    'the admin port speaks TLS with the same certificate, renewed too, workers: %i',
    async (workers) => {
      await put(authority.issue('first'))
      const { ready } = await serve(words('--workers', String(workers), '--admin-listen', '127.0.0.1:0'))
      const { adminEndpoint = '' } = ready
      expect(adminEndpoint).toMatch(/^https:/)
      // As the server was started: the command trusts the certificate of its configuration, whatever name is in it.
      const ofServer = { HOLDFAST_ADMIN_LISTEN: new URL(adminEndpoint).host, HOLDFAST_TLS_KEY: files.key }
      const asked = { ...keyVariables, ...ofServer, HOLDFAST_TLS_CERT: files.cert }
      expect((await run(['users', 'add', 'alice'], asked).ended).code).toBe(0)
      await put(authority.issue('second'))
      await serves(adminEndpoint, 'second', 1)
      expect((await run(['users', 'list'], asked).ended).stdout).toContain('alice')

      const other = join(root, 'other.pem')
      await writeFile(other, authority.issue('second').cert)
      const refused = await run(['users', 'list'], { ...asked, HOLDFAST_TLS_CERT: other }).ended
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('has another certificate') })
      const named = ['users', 'list', '--admin-endpoint', adminEndpoint]
      expect((await run(named, { ...keyVariables, NODE_EXTRA_CA_CERTS: authority.certFile }).ended).code).toBe(0)
      expect((await run(named, keyVariables).ended).stderr).toContain('UNABLE_TO_VERIFY_LEAF_SIGNATURE')
    },
  )

  test('an import trusts the certificate of the configuration, and of an authority that the machine trusts', async () => {
    await put(authority.issue('first'))
    const { ready } = await serve(words())
    const s3 = new S3Client({
      endpoint: ready.endpoint,
      region: 'us-east-1',
      credentials: environmentKey,
      forcePathStyle: true,
      requestHandler: { httpsAgent: new Agent({ ca: authority.cert }) },
    })
    await s3.send(new CreateBucketCommand({ Bucket: 'photos' }))
    await s3.send(new PutObjectCommand({ Bucket: 'photos', Key: 'key', Body: 'x' }))
    s3.destroy()
    const importKey = {
      HOLDFAST_IMPORT_ACCESS_KEY_ID: environmentKey.accessKeyId,
      HOLDFAST_IMPORT_SECRET_ACCESS_KEY: environmentKey.secretAccessKey,
    }
    const asked = { ...keyVariables, ...importKey, NODE_EXTRA_CA_CERTS: authority.certFile }
    const command = ['import', ready.endpoint, 'photos', '--to', 'copy']
    const ofServer = { HOLDFAST_LISTEN: new URL(ready.endpoint).host, HOLDFAST_TLS_KEY: files.key }
    const pinned = await run(command, { ...asked, ...ofServer, HOLDFAST_TLS_CERT: files.cert }).ended
    expect(pinned).toMatchObject({ code: 0, stdout: 'photos to copy: 1 version copied (1 byte)\n' })

    const other = join(root, 'other.pem')
    await writeFile(other, authority.issue('second').cert)
    const refused = await run(command, { ...asked, ...ofServer, HOLDFAST_TLS_CERT: other }).ended
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('it has another certificate') })
    const named = await run([...command, '--endpoint', ready.endpoint], asked).ended
    expect(named).toMatchObject({ code: 0, stdout: expect.stringContaining('1 key was here already') })
  })

  test('follows a link that is turned to another directory, as Kubernetes renews what it mounts', async () => {
    for (const name of ['first', 'second']) {
      const pair = authority.issue(name)
      await mkdir(join(root, name))
      await writeFile(join(root, name, 'cert.pem'), pair.cert)
      await writeFile(join(root, name, 'key.pem'), pair.key)
    }
    await symlink('first', join(root, 'data-link'))
    await symlink('data-link/cert.pem', files.cert)
    await symlink('data-link/key.pem', files.key)
    const { ready } = await serve(words())
    expect(await servedName(ready.endpoint)).toBe('first')
    await symlink('second', join(root, 'data-link.new'))
    await rename(join(root, 'data-link.new'), join(root, 'data-link'))
    await serves(ready.endpoint, 'second', 1)
  })

  test('a worker that replaces a dead one has the certificate that is in use, whatever the files hold', async () => {
    await put(authority.issue('first'))
    const running = await serve(words('--workers', '2', '--log-level', 'info'))
    await put({ cert: 'broken' })
    await said(running, 'the old one stays in force')
    const [victim = 0] = await answering(running)
    process.kill(victim, 'SIGKILL')
    await said(running, 'a worker died')
    let now = await answering(running)
    while (now.size < 2) now = await answering(running)
    expect(now).not.toContain(victim)
    for (const _turn of now) expect(await servedName(running.ready.endpoint)).toBe('first')
  })

  /** The processes whose turns it was, as the log of requests says. */
  async function answering({ ready, output, child }: Awaited<ReturnType<typeof serve>>): Promise<Set<number>> {
    const from = output.stderr.length
    const lines = (): string[] => output.stderr.slice(from).match(/"pid":\d+,"requestId"/g) ?? []
    const agent = new Agent({ ca: authority.cert })
    for (let asked = 0; asked < 2; asked++) {
      const [answer] = await once(get(`${ready.endpoint}/minio/health/live`, { agent }), 'response')
      answer.resume()
      while (lines().length <= asked) await new Promise((resolve) => child.stderr?.once('data', resolve))
    }
    return new Set(lines().map((line) => Number(/\d+/.exec(line))))
  }

  test.each([
    ['no file', () => ({}), /^holdfast: cannot open .*cert\.pem: there is no such file/],
    ['a file that is no certificate', (pair: KeyPair) => ({ ...pair, cert: 'x' }), /cert\.pem holds no certificate/],
    ['a file that is no key', (pair: KeyPair) => ({ ...pair, key: 'x' }), /key\.pem holds no private key/],
    ['the key of another', (pair: KeyPair) => ({ ...pair, key: authority.issue('b').key }), /does not belong to/],
  ])('does not start with %s, says why in one line, and makes nothing', async (_what, spoil, message) => {
    await put(spoil(authority.issue('a')))
    const outcome = await run(words(), keyVariables).ended
    expect(outcome).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(message) })
    expect(outcome.stderr.trim().split('\n')).toHaveLength(1)
  })
})
