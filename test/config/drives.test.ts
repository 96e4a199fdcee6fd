import { parse } from 'smol-toml'
import { expect, test } from 'vitest'
import { drivesRefusal, namesSeveralDrives } from '../../src/config/drives.ts'
import { parsePlacement } from '../../src/config/locations.ts'
import { unfollowedMinioVariables } from '../../src/config/minio-variables.ts'

const range = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, i) => `/mnt/d${from + i}`)

test.each([
  ['two words', ['/mnt/d1', '/mnt/d2'], ['/mnt/d1', '/mnt/d2'], { scheme: 'replica', copies: 2 }],
  ['three', ['/mnt/d{1...3}'], range(1, 3), { scheme: 'erasure', data: 2, parity: 1 }],
  ['four', ['/mnt/d{1...4}'], range(1, 4), { scheme: 'erasure', data: 2, parity: 2 }],
  ['a variable with spaces', ['/mnt/d1 /mnt/d2 /mnt/d3'], range(1, 3), { scheme: 'erasure', data: 2, parity: 1 }],
  ['numbers with zeros', ['/mnt/{01...02}'], ['/mnt/01', '/mnt/02'], { scheme: 'replica', copies: 2 }],
  ['two places', ['/mnt/{1...2}/d{1...2}'], ['/mnt/1/d1', '/mnt/1/d2', '/mnt/2/d1', '/mnt/2/d2'], { parity: 2 }],
  ['more than a set', ['/mnt/d{1...20}'], range(1, 20), { scheme: 'erasure', data: 12, parity: 4 }],
])('several drives are refused with the configuration for them: %s', (_, words, paths, scheme) => {
  const [, toml = ''] = drivesRefusal(words).split(':\n\n')
  const { stores, locations, defaultLocation } = parse(toml)
  // Whoever names four drives wants no bucket on one of them alone.
  expect(defaultLocation).toBe('drives')
  const placement = parsePlacement({ stores, locations }, '/')
  expect(placement.stores.map((store) => (store.type === 'directory' ? store.path : ''))).toEqual(paths)
  expect(placement.locations).toMatchObject([{ name: 'drives', policy: scheme }])
})

test.each([[['http://host{1...4}/disk{1...4}']], [['/mnt/d{a...d}']], [['/mnt/d{4...1}']], [['/mnt/d{1...9999}']]])(
  'what lies elsewhere, or names no numbers, is refused without one: %s',
  (words) => {
    expect(drivesRefusal(words)).toMatch(/\[stores\.NAME\]/)
    expect(drivesRefusal(words)).not.toContain('[locations')
  },
)

test('one path is one drive, whatever it is called', () => {
  for (const text of ['/mnt/d1', '/mnt/my disk', './{a}', '/mnt/d1...4']) expect(namesSeveralDrives(text)).toBe(false)
  for (const text of ['/mnt/d{1...4}', '/mnt/d1 /mnt/d2']) expect(namesSeveralDrives(text)).toBe(true)
})

test('variables of MinIO that ask for something, and that nothing follows, are named with what to use instead', () => {
  const set = {
    MINIO_STORAGE_CLASS_STANDARD: 'EC:2',
    MINIO_KMS_SECRET_KEY: 'x',
    MINIO_FS_OSYNC: 'on',
    MINIO_ERASURE_SET_DRIVE_COUNT: '',
    MINIO_ROOT_USER: 'u',
    MINIO_ACCESS_KEY: 'u',
    MINIO_ROOT_PASSWORD_FILE: '/run/secrets/root',
    MINIO_AUDIT_WEBHOOK_ENDPOINT_X: 'http://x',
    MINIO_NOTIFY_WEBHOOK_ENABLE_X: 'on',
    MINIO_BROWSER: 'off',
    PATH: '/bin',
  }
  expect(unfollowedMinioVariables(set).map(({ name, instead }) => `${name}: ${instead}`)).toEqual([
    expect.stringMatching(/^MINIO_ACCESS_KEY: MINIO_ROOT_USER/),
    expect.stringMatching(/^MINIO_AUDIT_WEBHOOK_ENDPOINT_X: --audit-log/),
    expect.stringMatching(/^MINIO_BROWSER: --admin-listen off closes the console/),
    expect.stringMatching(/^MINIO_FS_OSYNC: stores, /),
    expect.stringMatching(/^MINIO_KMS_SECRET_KEY: stores, /),
    expect.stringMatching(/^MINIO_ROOT_PASSWORD_FILE: MINIO_ROOT_USER/),
    expect.stringMatching(/^MINIO_STORAGE_CLASS_STANDARD: stores, /),
  ])
})

test('a variable of MinIO is named where another one of this server says something else', () => {
  const image = { HOLDFAST_LISTEN: ':9000', HOLDFAST_DATA: '/data', HOLDFAST_REGION: 'eu-west-1' }
  const set = { ...image, MINIO_ADDRESS: ':9100', MINIO_VOLUMES: '/data', AWS_REGION: 'us-east-1' }
  expect(unfollowedMinioVariables(set)).toEqual([
    { name: 'MINIO_ADDRESS', instead: 'HOLDFAST_LISTEN is set too, and comes first' },
  ])
  expect(unfollowedMinioVariables({ MINIO_ADDRESS: ':9100' })).toEqual([])
})
