import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Configuration, loadConfiguration, type Sources } from '../../src/config/configuration.ts'
import { ConfigurationError } from '../../src/config/configuration-error.ts'
import { limits } from '../../src/limits.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-config-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

let files = 0
async function load(from: Partial<Sources> & { toml?: string }): Promise<Configuration> {
  const { toml, ...sources } = from
  const flags = { ...sources.flags }
  if (toml !== undefined) {
    const file = join(directory, `${++files}.toml`)
    await writeFile(file, toml)
    flags.config = [file]
  }
  return loadConfiguration({ environment: {}, directory, ...sources, flags })
}

async function refusal(from: Parameters<typeof load>[0]): Promise<string> {
  const error = await load(from).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(ConfigurationError)
  return error instanceof Error ? error.message : ''
}

describe('precedence', () => {
  const toml = 'listen = "127.0.0.1:3"'
  const environment = { HOLDFAST_LISTEN: '127.0.0.1:2' }
  const flags = { listen: ['127.0.0.1:1'] }
  const initial = { listen: ['127.0.0.1:4'] }
  test.each([
    ['a flag comes before everything', { flags, environment, toml, initial }, 1],
    ['a variable comes before the file', { environment, toml, initial }, 2],
    ['the file comes before the initial value', { toml, initial }, 3],
    ["a command's initial value comes before the table's", { initial }, 4],
    ["the table's initial value comes last", {}, 9000],
    ['an empty variable counts as not set', { environment: { HOLDFAST_LISTEN: '' }, toml }, 3],
    ["Holdfast's variable comes before MinIO's", { environment: { ...environment, MINIO_ADDRESS: ':5' } }, 2],
    ['the last of a repeated flag counts', { flags: { listen: [':6', ':7'] } }, 7],
  ])('%s', async (_, sources, port) => {
    expect((await load(sources)).listen.port).toBe(port)
  })
})

describe('values', () => {
  test.each([
    ['HOST:PORT', { flags: { listen: ['0.0.0.0:9000'] } }, { listen: { host: '0.0.0.0', port: 9000 } }],
    [':PORT, on every interface', { flags: { listen: [':0'] } }, { listen: { host: '', port: 0 } }],
    ['[IPV6]:PORT', { flags: { listen: ['[::1]:9000'] } }, { listen: { host: '::1', port: 9000 } }],
    ['repeated domains', { flags: { domains: ['a.test', 'B.test'] } }, { domains: ['a.test', 'b.test'] }],
    ['domains with commas', { environment: { HOLDFAST_DOMAINS: 'a.test, b.test' } }, { domains: ['a.test', 'b.test'] }],
    ['domains in an array', { toml: 'domains = ["a.test"]' }, { domains: ['a.test'] }],
    ['no origins', {}, { corsAllowOrigin: [] }],
    [
      'origins with commas in a flag',
      { flags: { corsAllowOrigin: ['https://A.test,http://localhost:*', 'null'] } },
      { corsAllowOrigin: ['https://a.test', 'http://localhost:*', 'null'] },
    ],
    ['origins in a variable', { environment: { HOLDFAST_CORS_ALLOW_ORIGIN: '*' } }, { corsAllowOrigin: ['*'] }],
    [
      'origins in MinIO’s variable',
      { environment: { MINIO_API_CORS_ALLOW_ORIGIN: 'https://a.test, https://*.b.test' } },
      { corsAllowOrigin: ['https://a.test', 'https://*.b.test'] },
    ],
    ['origins in an array', { toml: 'corsAllowOrigin = ["https://a.test"]' }, { corsAllowOrigin: ['https://a.test'] }],
    ['no trusted proxies', {}, { trustedProxies: [] }],
    [
      'trusted proxies of both families',
      { environment: { HOLDFAST_TRUSTED_PROXIES: '10.0.0.0/8, ::1' } },
      { trustedProxies: ['10.0.0.0/8', '::1'] },
    ],
    [
      'public endpoints',
      { toml: 'publicEndpoints = ["https://S3.Example.com/", "http://other.test:8080"]' },
      { publicEndpoints: ['https://s3.example.com', 'http://other.test:8080'] },
    ],
    [
      'website domains beside domains of S3',
      { flags: { domains: ['s3.a.test'], websiteDomains: ['Web.a.test', 'b.test'] } },
      { websiteDomains: ['web.a.test', 'b.test'] },
    ],
    ['nothing blocked', {}, { blockPublic: false }],
    ['all blocked', { toml: '[access]\nblockPublic = true' }, { blockPublic: true }],
    ['a duration without unit, in seconds', { toml: '[reclaim]\ngrace = 90' }, { reclaimGraceMs: 90_000 }],
    ['never, for a duration', { toml: '[scrub]\ninterval = "never"' }, { scrubIntervalMs: undefined }],
    ['a rate', { toml: '[scrub]\nrate = "50MiB"' }, { scrubBytesPerSecond: 50 * 1024 * 1024 }],
    ['a rate in bytes', { flags: { repairBytesPerSecond: ['1000'] } }, { repairBytesPerSecond: 1000 }],
    ['a size', { environment: { HOLDFAST_CLIENT_MEMORY: '64MiB' } }, { clientBytesMax: 64 * 1024 * 1024 }],
    ['a least rate', { environment: { HOLDFAST_CLIENT_RATE_MIN: '2KiB' } }, { clientBytesPerSecondMin: 2048 }],
    ['no least rate', { environment: { HOLDFAST_CLIENT_RATE_MIN: 'off' } }, { clientBytesPerSecondMin: 0 }],
    ['no limit', { environment: { HOLDFAST_SCRUB_RATE: 'unlimited' } }, { scrubBytesPerSecond: undefined }],
    ['a duration in days', { flags: { abandonedUploadMs: ['2d'] } }, { abandonedUploadMs: 172_800_000 }],
    ['a switch by its flag', { flags: { allowCustomerKeysOverHttp: ['true'] } }, { allowCustomerKeysOverHttp: true }],
    [
      'a switch turned off by a variable that the file turns on',
      {
        environment: { HOLDFAST_ALLOW_CUSTOMER_KEYS_OVER_HTTP: 'false' },
        toml: 'tls.allowCustomerKeysOverHttp = true',
      },
      { allowCustomerKeysOverHttp: false },
    ],
    ['a switch in the file', { toml: '[tls]\nallowCustomerKeysOverHttp = true' }, { allowCustomerKeysOverHttp: true }],
    ['no switch', {}, { allowCustomerKeysOverHttp: false }],
    ['no default checksum', {}, { defaultChecksum: 'none' }],
    ['a default checksum', { toml: 'defaultChecksum = "CRC64NVME"' }, { defaultChecksum: 'CRC64NVME' }],
    ['signatures of version 2 in URLs, unless told otherwise', {}, { sigv2: 'presigned' }],
    ['no signatures of version 2', { toml: 'sigv2 = "off"' }, { sigv2: 'off' }],
    ['all signatures of version 2', { environment: { HOLDFAST_SIGV2: 'all' } }, { sigv2: 'all' }],
    ['no TLS', {}, { tls: undefined }],
    [
      'the files of TLS from two sources',
      { flags: { tlsCert: ['/c.pem'] }, environment: { HOLDFAST_TLS_KEY: '/k.pem' }, toml: 'tls.key = "/other.pem"' },
      { tls: { cert: '/c.pem', key: '/k.pem' } },
    ],
    ['a count', { environment: { HOLDFAST_WORKERS: '4' } }, { workers: 4 }],
    ['no count, which the machine decides', {}, { workers: 'auto' }],
    [
      'a count that the machine decides by name',
      { flags: { workers: ['auto'] }, toml: 'workers = 2' },
      { workers: 'auto' },
    ],
    ['a count in the file, and auto', { toml: 'workers = "auto"' }, { workers: 'auto' }],
  ])('%s', async (_, sources, expected) => {
    expect(await load(sources)).toMatchObject(expected)
  })

  /** An option, the least and the greatest that it takes, and what lies just outside. */
  const bounds: [flag: string, least: string, most: string, ...outside: string[]][] = [
    ['listen', ':0', ':65535', ':65536', ':-1', ':99999', ':100000'],
    ['workers', '1', `${limits.workersMax}`, '0', `${limits.workersMax + 1}`],
    ['snapshotsKept', '1', `${limits.snapshotsKeptMax}`, '0', `${limits.snapshotsKeptMax + 1}`],
    ['reclaimGraceMs', '0', '3650d', '-1', '3651d', '315360001s'],
    ['scrubIntervalMs', '1m', '3650d', '59s', '315360001s'],
    ['scrubBytesPerSecond', '1', `${Number.MAX_SAFE_INTEGER}`, '0', `${Number.MAX_SAFE_INTEGER + 1}`, '8192TiB', 'x1'],
    ['region', 'a', 'a'.repeat(64), '', 'a'.repeat(65)],
  ]
  test.each(bounds)('%s takes the least and the greatest, and nothing outside: %s, %s', async (flag, ...texts) => {
    const [least, most, ...outside] = texts
    for (const text of [least, most]) await expect(load({ flags: { [flag]: [text] } }), text).resolves.toBeDefined()
    for (const text of outside) expect(await refusal({ flags: { [flag]: [text] } }), text).toContain(': expects')
  })

  test('the greatest port and the greatest count mean what they say', async () => {
    const flags = { listen: ['127.0.0.1:65535'], workers: [`${limits.workersMax}`] }
    expect(await load({ flags })).toMatchObject({ listen: { port: 65_535 }, workers: limits.workersMax })
  })

  test('paths in the file are relative to the file, others to the working directory', async () => {
    expect((await load({ toml: 'data = "d"', directory: '/elsewhere' })).data).toBe(join(directory, 'd'))
    const { tls } = await load({ toml: '[tls]\ncert = "c.pem"\nkey = "k.pem"', directory: '/elsewhere' })
    expect(tls).toEqual({ cert: join(directory, 'c.pem'), key: join(directory, 'k.pem') })
    expect((await load({ flags: { data: ['d'] }, directory: '/elsewhere' })).data).toBe('/elsewhere/d')
  })

  test("MinIO's notation for several drives is not taken for a name", async () => {
    const environment = { MINIO_VOLUMES: '/disk{1...4}' }
    expect(await refusal({ environment })).toMatch(/^MINIO_VOLUMES: .*one data directory(?:.|\n)*\[stores\.drive4\]/)
  })

  test.each([
    ['--listen', { flags: { listen: ['9000'] } }],
    ['--listen', { flags: { listen: ['h:65536'] } }],
    ['--listen', { flags: { listen: ['::1:9000'] } }],
    ['HOLDFAST_WORKERS', { environment: { HOLDFAST_WORKERS: '0' } }],
    ['HOLDFAST_WORKERS', { environment: { HOLDFAST_WORKERS: '1.5' } }],
    ['--workers', { flags: { workers: ['all'] } }],
    ['--domain', { flags: { domains: ['a.test', '-x.test'] } }],
    ['--domain', { flags: { domains: ['host:9000'] } }],
    ['--cors-allow-origin', { flags: { corsAllowOrigin: ['app.test'] } }],
    ['--cors-allow-origin', { flags: { corsAllowOrigin: ['https://app.test/'] } }],
    ['--cors-allow-origin', { flags: { corsAllowOrigin: ['https://*.*.test'] } }],
    ['--cors-allow-origin', { flags: { corsAllowOrigin: ['https://a b'] } }],
    ['--cors-allow-origin', { flags: { corsAllowOrigin: [''] } }],
    ['--trusted-proxy', { flags: { trustedProxies: ['proxy.test'] } }],
    ['--trusted-proxy', { flags: { trustedProxies: ['10.0.0.0/33'] } }],
    ['--trusted-proxy', { flags: { trustedProxies: [''] } }],
    ['--public-endpoint', { flags: { publicEndpoints: ['s3.example.com'] } }],
    ['--public-endpoint', { flags: { publicEndpoints: ['https://s3.example.com/base'] } }],
    ['--public-endpoint', { flags: { publicEndpoints: ['https://user@s3.example.com'] } }],
    ['--public-endpoint', { flags: { publicEndpoints: ['ftp://s3.example.com'] } }],
    ['--public-endpoint', { flags: { publicEndpoints: Array.from({ length: 9 }, (_, i) => `https://s${i}.test`) } }],
    ['--data', { flags: { data: [''] } }],
    ['--config', { flags: { config: ['a\0b'] } }],
    ['--reclaim-grace', { flags: { reclaimGraceMs: ['soon'] } }],
    ['--scrub-interval', { flags: { scrubIntervalMs: ['1s'] } }],
    ['--scrub-rate', { flags: { scrubBytesPerSecond: ['0'] } }],
    ['--repair-rate', { flags: { repairBytesPerSecond: ['50MB'] } }],
    ['--reclaim-interval', { flags: { reclaimIntervalMs: ['0'] } }],
    ['--log-level', { flags: { logLevel: ['loud'] } }],
    ['--region', { flags: { region: ['us east'] } }],
    ['HOLDFAST_ALLOW_CUSTOMER_KEYS_OVER_HTTP', { environment: { HOLDFAST_ALLOW_CUSTOMER_KEYS_OVER_HTTP: 'maybe' } }],
  ])('a bad value is refused by the name of its source: %s %j', async (place, sources) => {
    expect(await refusal(sources)).toMatch(new RegExp(`^${place}: expects`))
  })
})

describe('half of what TLS needs is refused by the name of what is missing', () => {
  test.each([
    ['--tls-cert', '--tls-key', { flags: { tlsCert: ['c.pem'] } }],
    ['HOLDFAST_TLS_KEY', 'HOLDFAST_TLS_CERT', { environment: { HOLDFAST_TLS_KEY: 'k.pem' } }],
    ['tls.cert', 'tls.key', { toml: '[tls]\ncert = "c.pem"' }],
    // An empty variable counts as not set.
    ['--tls-cert', 'HOLDFAST_TLS_KEY', { flags: { tlsCert: ['c.pem'] }, environment: { HOLDFAST_TLS_KEY: '' } }],
  ])('%s without %s', async (given, missing, sources) => {
    expect(await refusal(sources)).toMatch(new RegExp(`${given} is set, .* set one of .*${missing}`))
  })
})

describe('the file', () => {
  test.each([
    ["unknown key 'lisen'; did you mean 'listen'?", 'lisen = ":1"'],
    ["unknown key 'reclaim.graze'; did you mean 'reclaim.grace'?", '[reclaim]\ngraze = "1h"'],
    ["unknown key 'location'; did you mean 'locations'?", '[location]\nx = 1'],
    ["unknown key 'zzzzzz'", 'zzzzzz = 1'],
    ['workers: expects a string or a number', 'workers = true'],
    ['defaultChecksum: expects one of none, CRC64NVME', 'defaultChecksum = "MD5"'],
    ['tls.allowCustomerKeysOverHttp: expects true or false', '[tls]\nallowCustomerKeysOverHttp = "true"'],
    ["unknown key 'tls.certificate'", '[tls]\ncertificate = "c.pem"'],
    ['domains: expects an array of strings', 'domains = [true]'],
    ["accounts[0]: unknown key 'nam'; did you mean 'name'?", '[[accounts]]\nid = "a"\nnam = "x"\nkeys = []'],
    ['accounts[0].keys: must hold at least one key', '[[accounts]]\nid = "a"\nkeys = []'],
    ['accounts[0].id: must be', '[[accounts]]\nid = "a b"\nkeys = [{accessKeyId="aaa",secretAccessKey="12345678"}]'],
    [
      'accounts[0].keys[0].secretAccessKey: is too weak',
      '[[accounts]]\nid = "a"\nkeys = [{accessKeyId="aaa",secretAccessKey="1234567"}]',
    ],
    [
      "accounts: access key 'aaa' appears twice",
      '[[accounts]]\nid = "a"\nkeys = [{accessKeyId="aaa",secretAccessKey="12345678"}, {accessKeyId="aaa",secretAccessKey="12345679"}]',
    ],
    [
      "accounts: account id 'a' appears twice",
      ['aaa', 'bbb']
        .map((key) => `[[accounts]]\nid = "a"\nkeys = [{accessKeyId="${key}",secretAccessKey="12345678"}]`)
        .join('\n'),
    ],
    ['access.oidc: expects a table', '[access]\noidc = 1'],
    ['accounts[0].keys: is missing', '[[accounts]]\nid = "a"'],
    ['accounts[0].keys: expects an array', '[[accounts]]\nid = "a"\nkeys = "x"'],
    ['accounts[0].id: expects a text in quotes', '[[accounts]]\nid = 1\nkeys = []'],
    ['stores.a.type: expects one of directory, ', '[stores.a]\npath = "x"'],
    ['locations.x.copies: expects a whole number', '[locations.x]\nscheme = "replica"\ncopies = 1.5\nstores = ["a"]'],
    ['sites.a b: must be 1 to 64', '[sites."a b"]\nendpoint = "https://s3.example.com"'],
    [':2:', 'data = "x"\nlisten = '],
    [':1:8: Invalid TOML document: invalid value. Texts, such as paths, need quotes', 'data = ./x'],
  ])('is refused: %s', async (message, toml) => {
    expect(await refusal({ toml })).toContain(message)
  })

  test('that is missing is refused', async () => {
    expect(await refusal({ flags: { config: ['none.toml'] } })).toContain('none.toml')
  })

  test('that is a directory is refused by its path', async () => {
    expect(await refusal({ flags: { config: [directory] } })).toMatch(`cannot read ${directory}: that is a directory`)
  })

  test('never shows up in a message with a secret', async () => {
    const secret = 'canary-canary'
    const key = `{accessKeyId="aaa",secretAccessKey="${secret}"`
    for (const toml of [
      `keys = [${key}`,
      `[[accounts]]\nid = 1\nkeys = [${key}}]`,
      `[[accounts]]\nid = "a"\nkeys = [${key}, x=1}]`,
    ]) {
      expect(await refusal({ toml })).not.toContain(secret)
    }
  })
})

describe('credentials', () => {
  const pair = (id: string, secret: string, value: string) => ({ [id]: `id-${value}`, [secret]: `secret-${value}` })
  const holdfast = pair('HOLDFAST_ACCESS_KEY_ID', 'HOLDFAST_SECRET_ACCESS_KEY', 'holdfast')
  const aws = pair('AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'aws')
  const minio = pair('MINIO_ROOT_USER', 'MINIO_ROOT_PASSWORD', 'minio')

  test.each([
    ['holdfast', { ...minio, ...aws, ...holdfast }],
    ['minio', { ...minio, ...aws }],
    ['aws', { ...aws, HOLDFAST_ROOT_FROM_AWS_ENV: 'true' }],
  ])('the first complete pair counts: %s', async (name, environment) => {
    const { accounts, root } = await load({ environment })
    const key = { accessKeyId: `id-${name}`, secretAccessKey: `secret-${name}` }
    expect(accounts).toEqual([{ id: 'main', name: 'Main', keys: [key] }])
    expect(root).toMatchObject(key)
  })

  test.each([
    ['HOLDFAST_SECRET_ACCESS_KEY is not', { ...minio, HOLDFAST_ACCESS_KEY_ID: 'id' }],
    ['HOLDFAST_ACCESS_KEY_ID is not', { HOLDFAST_SECRET_ACCESS_KEY: 'secret-1', HOLDFAST_ACCESS_KEY_ID: '' }],
    ['MINIO_ROOT_PASSWORD is not', { MINIO_ROOT_USER: 'minio' }],
    ['MINIO_ROOT_PASSWORD: is too weak', { ...minio, MINIO_ROOT_PASSWORD: '1234567' }],
    ['HOLDFAST_ACCESS_KEY_ID: must be at least 3', { ...holdfast, HOLDFAST_ACCESS_KEY_ID: 'a' }],
    ['AWS_ACCESS_KEY_ID', { ...aws, AWS_ACCESS_KEY_ID: 'a/b/c', HOLDFAST_ROOT_FROM_AWS_ENV: 'true' }],
  ])('half a pair, or a bad one, is refused: %s', async (message, environment) => {
    expect(await refusal({ environment })).toContain(message)
  })

  test('a key that a shell has for AWS becomes no root key unasked', async () => {
    expect(await load({ environment: aws })).toMatchObject({ accounts: [], root: undefined })
    expect((await load({ environment: aws, flags: { rootFromAwsEnv: ['true'] } })).root?.accessKeyId).toBe('id-aws')
    expect((await load({ environment: aws, toml: 'rootFromAwsEnv = true' })).root?.accessKeyId).toBe('id-aws')
  })

  test('nothing given leaves no account, so that a key is made', async () => {
    expect(await load({})).toMatchObject({ accounts: [], root: undefined })
  })

  const mainAccount =
    '[[accounts]]\nid = "main"\nname = "M"\nkeys = [{accessKeyId="in-file",secretAccessKey="12345678"}]'

  test("the environment's key joins the account main of the file", async () => {
    const { accounts } = await load({ environment: { ...aws, HOLDFAST_ROOT_FROM_AWS_ENV: 'true' }, toml: mainAccount })
    expect(accounts.map(({ id, name, keys }) => [id, name, keys.map((key) => key.accessKeyId)])).toEqual([
      ['main', 'M', ['id-aws', 'in-file']],
    ])
  })

  test('an access key in both places is refused', async () => {
    const environment = { ...holdfast, HOLDFAST_ACCESS_KEY_ID: 'in-file' }
    expect(await refusal({ environment, toml: mainAccount })).toContain("access key 'in-file' is both")
  })
})
