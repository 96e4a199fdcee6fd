/** Starts that fail, and what they say and leave; and what MinIO's command line means here. */
import { once } from 'node:events'
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CreateBucketCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { beforeEach, describe, expect, test } from 'vitest'
import { makeAuthority } from '../support/authority.ts'
import { keyVariables, run, serve } from './holdfast-process.ts'
import { openWorkplace, testClient } from './workplace.ts'

const place = openWorkplace('starts')
let data: string
beforeEach(() => {
  data = place.path('data')
})

const aws = { AWS_ACCESS_KEY_ID: 'production', AWS_SECRET_ACCESS_KEY: 'secret-of-production' }

describe('a first start', () => {
  test.each(['1', '2'])('on a busy port leaves nothing behind, workers: %s', async (workers) => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const outcome = await run(['--data', data, '--listen', `127.0.0.1:${port}`, '--workers', workers], {}).ended
    expect(outcome).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('another process listens') })
    expect(await readdir(place.path())).toEqual([])
    taken.close()
  })

  test('makes no root key of the one that a shell has for AWS, and says so', async () => {
    const words = ['serve', '--data', data, '--listen', '127.0.0.1:0']
    const own = await serve(words, aws)
    expect(own.ready.accessKeyId).toMatch(/^HF/)
    await own.logged((line) => line.includes('--root-from-aws-env'))
    own.child.kill('SIGTERM')
    await own.ended
    const asked = await serve([...words, '--root-from-aws-env'], aws)
    expect(asked.ready.accessKeyId).toBe('production')
    expect(asked.output.stderr).toBe('')
  })
})

test.skipIf(process.platform === 'win32')(
  'a process that may open too few files says so in one line, with what to set',
  async () => {
    const through = ['sh', '-c', 'ulimit -n 48; exec "$0" "$@"']
    const { code, stdout, stderr } = await run(['serve', '--data', data], keyVariables, { through }).ended
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^holdfast: this process may open too few files: raise its limit to .*`ulimit -n`.*\n$/)
    expect(await readdir(place.path())).toEqual([])
  },
)

test('a later start that is refused ends, with the workers that it had begun to start', async () => {
  const words = ['serve', '--data', data, '--workers', '2', '--listen']
  await serve([...words, '127.0.0.1:0'], keyVariables)
  // Resolves when no process is left that could write to the output.
  const { code, stderr } = await run([...words, '127.0.0.1:0'], keyVariables).ended
  expect([code, stderr]).toEqual([1, expect.stringContaining('is in use by')])
})

test('no process of a server loads the library of schemas twice', async () => {
  const count = place.path('count.mjs')
  // What `import` has loaded, this cache does not hold.
  const code = `import { createRequire } from 'node:module'
const { cache } = createRequire(import.meta.url)
process.on('exit', () => console.error('required again:', Object.keys(cache).filter((path) => /node_modules.zod./.test(path)).length))`
  await writeFile(count, code)
  const words = ['serve', '--data', data, '--workers', '2', '--listen', '127.0.0.1:0']
  const server = await serve(words, { ...keyVariables, NODE_OPTIONS: `--import=${pathToFileURL(count)}` })
  server.child.kill('SIGTERM')
  const { stderr } = await server.ended
  expect(stderr.match(/required again: \d+/g)).toEqual(Array.from({ length: 3 }, () => 'required again: 0'))
})

describe('what is wrong with a file is said with its cause and cure, in one line', () => {
  test.each([
    [
      'a path below a file',
      async () => writeFile(data, ''),
      ['--data', 'data/x'],
      /data\/x: a part of that path is a file, not a directory/,
      1,
    ],
    [
      'a missing configuration',
      async () => {},
      ['--config', 'none.toml'],
      /cannot open .*none.toml: there is no such file/,
      2,
    ],
    [
      'a directory as configuration',
      async () => mkdir(data),
      ['--config', 'data'],
      /that is a directory, not a file/,
      2,
    ],
    ['a path that is too long', async () => {}, ['--data', 'x'.repeat(300)], /that path is too long/, 1],
    [
      'a missing certificate',
      async () => {},
      ['--tls-cert', 'c.pem', '--tls-key', 'k.pem'],
      /cannot open .*c\.pem: there is no such file/,
      2,
    ],
    [
      'a file system for reading only',
      async () => {},
      ['--data', '/sys/holdfast'],
      /\/sys\/holdfast: (?:permission denied|that file system is mounted read-only)/,
      1,
    ],
    [
      'a directory that takes no entries',
      async () => {},
      ['--data', '/proc/holdfast/data'],
      /cannot make the directory \/proc\/holdfast: /,
      1,
    ],
    [
      'a store in a directory that takes no entries',
      async () => writeFile(place.path('stores.toml'), '[stores.d]\ntype = "directory"\npath = "/proc/holdfast"\n'),
      ['--config', 'stores.toml'],
      /stores\.d: cannot make the directory \/proc\/holdfast: /,
      1,
    ],
  ])('%s', async (_, prepare, words, message, code) => {
    await prepare()
    const absolute = words.map((word) => (word.startsWith('-') || word.startsWith('/') ? word : place.path(word)))
    const outcome = await run(['serve', '--listen', '127.0.0.1:0', '--data', data, ...absolute], keyVariables).ended
    expect(outcome).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(message) })
    expect(outcome.stderr.trim().split('\n')).toHaveLength(1)
  })

  test.skipIf(process.getuid?.() !== 0)('metadata of somebody else', async () => {
    const words = ['serve', '--listen', '127.0.0.1:0', '--data', data]
    const first = await serve(words)
    first.child.kill('SIGTERM')
    await first.ended
    for (const open of [place.path(), data, join(data, 'holdfast.json')]) await chmod(open, 0o755)
    const { code, stderr } = await run(words, keyVariables, { uid: 65_534 }).ended
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^holdfast: cannot open .*meta.*: permission denied\..*\n$/),
    ])
  })

  test('a directory of somebody else', async () => {
    const isRoot = process.getuid?.() === 0
    // What is root's may be nobody's to enter; who is not root locks himself out.
    if (!isRoot) await mkdir(data, { mode: 0o000 })
    const words = ['serve', '--listen', '127.0.0.1:0', '--data', data]
    const { code, stderr } = await run(words, keyVariables, isRoot ? { uid: 65_534 } : {}).ended
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^holdfast: cannot .*: permission denied\. Give this user access.*\n$/),
    ])
  })
})

describe('metadata that is lost', () => {
  test('is told to be recovered, also when only stores of locations hold data', async () => {
    const config = place.path('holdfast.toml')
    await writeFile(
      config,
      'data = "data"\nlisten = "127.0.0.1:0"\n[stores.d]\ntype = "directory"\npath = "d"\n[locations.one]\nscheme = "replica"\ncopies = 1\nstores = ["d"]\n',
    )
    const running = await serve(['serve', '--config', config])
    const s3 = testClient(running.ready.endpoint)
    const CreateBucketConfiguration = { LocationConstraint: 'one' as 'eu-west-1' }
    await s3.send(new CreateBucketCommand({ Bucket: 'bucket', CreateBucketConfiguration }))
    await s3.send(new PutObjectCommand({ Bucket: 'bucket', Key: 'key', Body: 'body' }))
    s3.destroy()
    running.child.kill('SIGTERM')
    await running.ended
    for (const lost of [join(data, 'meta'), data]) {
      await rm(lost, { recursive: true })
      const { code, stderr } = await run(['serve', '--config', config], keyVariables).ended
      expect([code, stderr], lost).toEqual([1, expect.stringMatching(/[Rr]un `?holdfast recover\b/)])
    }
  })
})

describe("MinIO's command line", () => {
  test('its directory of certificates makes the port speak TLS; one without any is said', async () => {
    const authority = makeAuthority(place.path())
    const { cert, key } = authority.issue('server')
    const certs = place.path('certs')
    await mkdir(certs)
    const words = ['server', '-S', certs, '--quiet', '--anonymous', '--address', '127.0.0.1:0', data]
    const plain = run(words, keyVariables)
    expect(await plain.line((line) => line.startsWith('ready'))).toMatch(/^ready http:\S+ workers=1 pid=\d+$/)
    expect(plain.output.stdout.trim().split('\n')).toHaveLength(1)
    await plain.logged((line) => line.includes('plain HTTP'))
    plain.child.kill('SIGTERM')
    await plain.ended

    await writeFile(join(certs, 'public.crt'), cert)
    await writeFile(join(certs, 'private.key'), key)
    const secure = run(
      words.map((word) => (word === '-S' ? '--certs-dir' : word)),
      keyVariables,
    )
    expect(await secure.line((line) => line.startsWith('ready'))).toMatch(/^ready https:/)
  })

  test('names no key, secret or path with --anonymous, in JSON either', async () => {
    const running = await serve(['server', '--anonymous', '--address', '127.0.0.1:0', data], {})
    const { secretAccessKey } = JSON.parse(await readFile(join(data, 'credentials.json'), 'utf8'))
    expect(Object.keys(running.ready).sort()).toEqual(['endpoint', 'event', 'pid', 'region', 'version', 'workers'])
    expect(running.output.stdout + running.output.stderr).not.toContain(secretAccessKey)
  })

  test('several drives are refused with the file to write', async () => {
    for (const drives of [['/mnt/d1', '/mnt/d2'], ['/mnt/d{1...2}']]) {
      const outcome = await run(['server', ...drives], keyVariables).ended
      expect(outcome).toMatchObject({ code: 2, stdout: '' })
      expect(outcome.stderr).toContain('[stores.drive2]\ntype = "directory"\npath = "/mnt/d2"')
      expect(outcome.stderr).toContain('stores = ["drive1", "drive2"]')
    }
  })

  test('variables that promise something of data, and are not followed, are named', async () => {
    const asked = { MINIO_STORAGE_CLASS_STANDARD: 'EC:4', MINIO_KMS_SECRET_KEY: 'canary', HOLDFAST_DOMAIN: 'x.test' }
    const environment = { ...keyVariables, ...asked }
    const running = await serve(['server', '--address', '127.0.0.1:0', data], environment)
    await running.logged((line) => line.includes('MINIO_STORAGE_CLASS_STANDARD is set, but not followed'))
    await running.logged((line) => line.includes('MINIO_KMS_SECRET_KEY is set, but not followed'))
    await running.logged((line) => line.includes("HOLDFAST_DOMAIN; did you mean 'HOLDFAST_DOMAINS'?"))
    expect(running.output.stderr).not.toContain('canary')
  })
})
