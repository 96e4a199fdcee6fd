/**
 * Every snippet of the README and of the pages for people who run a server, run as it stands against one, but for its address and its keys. One that no
 * row knows fails.
 */
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { describe, expect, test } from 'vitest'
import { loadConfiguration } from '../../src/config/configuration.ts'
import { environmentKey } from '../cli/holdfast-process.ts'
import { makeAuthority } from '../support/authority.ts'
import { describeClient, type Workplace } from './client-tools.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

interface Snippet {
  language: string
  code: string
}

const pages = [
  'README.md',
  ...['running', 'access', 'proxies', 'websites', 'disks', 'object-lock'].map((name) => `docs/${name}.md`),
]
const text = pages.map((page) => readFileSync(join(root, page), 'utf8')).join('\n')

/** In the order of the pages. */
const snippets: Snippet[] = [...text.matchAll(/^( *)```(\w+)\n((?:.*\n)*?)^ *```$/gm)].map(
  ([, indent = '', language = '', code = '']) => ({
    language,
    code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }),
)

const claimed = new Set<Snippet>()

/** The snippet that holds this text. */
function snippet(language: string, holding: string): Snippet {
  const found = snippets.filter((each) => each.language === language && each.code.includes(holding))
  const [first] = found
  if (first === undefined || found.length > 1)
    throw new Error(`${found.length} snippets in ${language} hold ${holding}`)
  claimed.add(first)
  return first
}

const at = (place: Workplace, { code }: Snippet): string =>
  code
    .replaceAll('http://127.0.0.1:9000', place.endpoint)
    .replaceAll('127.0.0.1:9000', place.host)
    .replaceAll('port: 9000', `port: ${place.host.split(':')[1]}`)

async function withBucket(place: Workplace, ...names: string[]): Promise<void> {
  const { endpoint } = place
  const s3 = new S3Client({ endpoint, region: 'us-east-1', credentials: environmentKey, forcePathStyle: true })
  for (const Bucket of names) await s3.send(new CreateBucketCommand({ Bucket })).catch(ownedAlready)
  s3.destroy()
}

function ownedAlready(error: Error): void {
  if (error.name !== 'BucketAlreadyOwnedByYou') throw error
}

async function withFiles(place: Workplace): Promise<void> {
  await mkdir(join(place.directory, 'pictures'), { recursive: true })
  for (const file of ['pictures/dog.jpg', 'cat.jpg']) await writeFile(join(place.directory, file), 'meow')
}

const shell = (place: Workplace, code: string): Promise<string> =>
  place.client('bash', '-euc', `cd '${place.directory}'\nexport HOME='${place.directory}'\n${code}`)

describeClient('the snippets of aws-cli', ['aws', '--version'], (place) => {
  test('make a bucket, sync into it, and presign', async () => {
    await withFiles(place)
    expect(await shell(place, at(place, snippet('sh', 'aws s3 mb')))).toContain('Signature')
  })
})

describeClient('the snippet of boto3', ['python3', '-c', 'import boto3'], (place) => {
  test('uploads a file', async () => {
    await withFiles(place)
    await withBucket(place, 'photos')
    await writeFile(join(place.directory, 'use.py'), at(place, snippet('python', 'import boto3')))
    await shell(place, 'python3 use.py')
  })
})

describeClient('the snippet of data tools', ['python3', '-c', 'import polars, deltalake, pyarrow'], (place) => {
  test('writes a table, reads it, and makes a Delta table', async () => {
    await withBucket(place, 'photos')
    await writeFile(join(place.directory, 'use.py'), at(place, snippet('python', 'write_deltalake')))
    expect(await shell(place, 'python3 use.py')).toContain('shape: (3, 1)')
  })
})

describeClient('the snippet of rclone', ['rclone', 'version'], (place) => {
  test('configures a remote and syncs to it', async () => {
    await withFiles(place)
    await withBucket(place, 'photos')
    await shell(place, `export RCLONE_CONFIG=rclone.conf\n${at(place, snippet('sh', 'rclone config'))}`)
  })
})

describeClient('the snippet of s3cmd', ['s3cmd', '--version'], (place) => {
  test('puts a file', async () => {
    await withFiles(place)
    await withBucket(place, 'photos')
    await shell(place, at(place, snippet('sh', 's3cmd')))
  })
})

describeClient('the snippet of restic', ['restic', 'version'], (place) => {
  test('makes a repository, and backs up', async () => {
    await mkdir(join(place.directory, 'documents'))
    await withBucket(place, 'backups')
    await shell(place, `export RESTIC_PASSWORD=secret\n${at(place, snippet('sh', 'restic'))}`)
  })
})

describeClient('the snippets of access', ['aws', '--version'], (place) => {
  test('open a part of a bucket to all, and to the pages of one origin', async () => {
    await withBucket(place, 'photos')
    await shell(place, at(place, snippet('sh', 'put-bucket-policy')))
    await shell(place, at(place, snippet('sh', 'put-bucket-cors')))
    const headers = { Origin: 'https://app.example.com' }
    const open = await fetch(`${place.endpoint}/photos/public/none`, { headers })
    expect([open.status, open.headers.get('access-control-allow-origin')]).toEqual([403, 'https://app.example.com'])
    await shell(place, at(place, snippet('sh', 'aws s3 website')))
    const status = 'aws s3api get-bucket-policy-status --endpoint-url http://127.0.0.1:9000 --bucket photos'
    expect(await shell(place, at(place, { language: 'sh', code: status }))).toContain('"IsPublic": true')
  })

  test('make temporary keys, and an object with an access control list', async () => {
    expect(await shell(place, at(place, snippet('sh', 'aws sts assume-role --region')))).toContain('SessionToken')
    await writeFile(join(place.directory, 'photo.jpg'), 'meow')
    await shell(place, at(place, snippet('sh', '--object-ownership ObjectWriter')))
    expect((await fetch(`${place.endpoint}/shared/photo.jpg`)).status).toBe(200)
  })
})

describeClient('the snippets of Node', ['node', '--version'], (place) => {
  const run = async (name: string, code: string): Promise<void> => {
    const modules = join(place.directory, 'node_modules')
    await mkdir(modules, { recursive: true })
    for (const name of ['@aws-sdk', 'minio'])
      await symlink(join(root, 'node_modules', name), join(modules, name)).catch(() => {})
    await symlink(root, join(modules, 'holdfast')).catch(() => {})
    const file = join(place.directory, `${name}.mts`)
    await writeFile(file, code)
    // As a user's compiler would: types away, and disposal as older engines know it.
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const flags = [
      '--target',
      'es2022',
      '--lib',
      'es2023,esnext.disposable',
      '--module',
      'nodenext',
      '--skipLibCheck',
      '--types',
      'node',
    ]
    const typeRoots = ['--typeRoots', join(root, 'node_modules/@types')]
    await place.client(process.execPath, tsc, ...flags, ...typeRoots, file)
    // As the page's first lines have it.
    await place.client('env', 'AWS_REGION=us-east-1', process.execPath, file.replace('.mts', '.mjs'))
  }

  test('the AWS SDK puts an object', async () => {
    await withBucket(place, 'photos')
    await run('sdk', at(place, snippet('ts', "new S3Client({ endpoint: 'http")))
  })

  test('minio-js puts an object', async () => {
    await withBucket(place, 'photos')
    await run('minio', at(place, snippet('ts', "from 'minio'")))
  })

  test('a test starts a server and writes to it; with TLS, it takes an agent', async () => {
    const embedded = snippet('ts', 'await using s = await startServer').code
    await run('embedded', embedded)
    await run('users', `${embedded}\n${snippet('ts', 's.identities.users.create').code}`)
    const { cert, key } = makeAuthority(place.directory).issue('server')
    const secure = [
      `const cert = ${JSON.stringify(cert)}, key = ${JSON.stringify(key)}`,
      `process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'`,
      embedded
        .replace("{ buckets: ['photos'] }", "{ buckets: ['photos'], tls: { cert, key } }")
        .replace(/^const s3 =.*$/m, ''),
    ].join('\n')
    const [imports = '', ...rest] = snippet('ts', 'new Agent').code.split('\n\n')
    await run('tls', `${imports}\n${secure.replace(/^await s3.send/m, `${rest.join('\n')}\nawait s3.send`)}`)
  })
})

describe('the snippets of configuration', () => {
  test('are understood', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'holdfast-readme-'))
    const load = async (name: string, toml: string) => {
      const config = join(directory, `${name}.toml`)
      await writeFile(config, toml)
      return loadConfiguration({ flags: { config: [config] }, environment: {}, directory })
    }
    const disks = snippet('toml', '[locations.safe]').code
    expect((await load('disks', disks)).placement.locations).toMatchObject([{ name: 'safe' }])
    const more = [4, 5, 6].map((i) => `[stores.disk${i}]\ntype = "directory"\npath = "/mnt/disk${i}"\n`).join('')
    const wide = `${disks}\n${more}${snippet('toml', '[locations.wide]').code}\n${snippet('toml', '[stores.elsewhere]').code}`
    const { placement } = await load('wide', wide)
    expect(placement.locations.map(({ name }) => name).sort()).toEqual(['safe', 'wide'])
    expect(placement.stores.map(({ name }) => name)).toContain('elsewhere')
    const behind = await load('behind', snippet('toml', 'trustedProxies').code)
    expect(behind).toMatchObject({ trustedProxies: ['127.0.0.1'], publicEndpoints: ['https://s3.example.com'] })
    const secret = snippet('toml', 'permissions =').code.replace('"..."', '"secret-of-backup"')
    expect((await load('accounts', secret)).accounts[0]?.keys[0]?.permissions).toContain('s3:Get*')
  })

  test.each([
    ['npm ci && npm start', 'package.json knows them'],
    ['export AWS_ACCESS_KEY_ID', 'every other snippet runs with them'],
    ['npx holdfast serve --listen', 'test/cli/tls.test.ts runs it'],
    ['holdfast users add alice', 'test/cli/admin.test.ts does the same'],
    ['holdfast access explain', 'test/cli/admin/access.test.ts does the same'],
    ['assume-role-with-web-identity', 'test/wire/web-identity.test.ts asks for the same'],
    ['sysctl -w', 'it is the host’s, not ours'],
    ['holdfast clock --data DIR --confirm', 'test/cli/clock.test.ts does the same'],
    [
      'aws s3api create-bucket --bucket photos --create-bucket-configuration',
      'test/cli/placement/locations.test.ts does the same',
    ],
  ])('%s is run elsewhere: %s', (holding) => {
    snippet('sh', holding)
  })

  test('of proxies set or remove every header that is believed', () => {
    for (const name of ['Host', 'X-Forwarded-For', 'X-Forwarded-Proto', 'X-Forwarded-Host', 'Forwarded']) {
      expect(snippet('nginx', 'proxy_pass').code).toContain(`proxy_set_header ${name} `)
    }
    // Caddy sets the others by itself.
    expect(snippet('caddy', 'reverse_proxy').code).toContain('header_up -Forwarded')
  })

  test('of the doctor is what test/cli/doctor.test.ts sees', () => {
    expect(snippet('console', 'holdfast doctor').code).toContain('✗ paths')
  })

  test('of Terraform locks its state by a file, and names buckets in the path', () => {
    const { code } = snippet('hcl', 'backend "s3"')
    expect(code).toMatch(/use_lockfile +=\s+true/)
    expect(code).toMatch(/use_path_style +=\s+true/)
  })
})

test('no snippet is left out', () => {
  const inOrder = readFileSync(fileURLToPath(import.meta.url), 'utf8').matchAll(
    /snippet\('(\w+)', (?:'([^']+)'|"([^"]+)")\)/g,
  )
  for (const [, language = '', single, double] of inOrder) snippet(language, single ?? double ?? '')
  expect(snippets.filter((each) => !claimed.has(each)).map(({ code }) => code)).toEqual([])
})
