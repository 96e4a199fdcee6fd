/** Calls that lock versions: default retention, retention, legal holds. */
import { expect } from 'vitest'
import { type Call, type Scenario, versionId } from './call.ts'
import { etags } from './files.ts'

const name = 's3api-locks'
const bucket = ['--bucket', name]
const open = ['--bucket', 's3api-locks-open']
const object = [...bucket, '--key', 'k']
const held = [...object, '--version-id', '<held>']
const bypass = '--bypass-governance-retention'

const dateIn = (years: number): string => `${new Date().getUTCFullYear() + years}-01-02T03:04:05`
const until = (years: number): unknown => expect.stringContaining(dateIn(years))
const put = { ETag: etags.letters, Version: versionId }
const putWords = (...lock: string[]): string[] => [
  ...[...object, '--body', 'letters', ...lock],
  ...['--query', '{ETag: ETag, Version: VersionId}'],
]
const rule = { DefaultRetention: { Mode: 'GOVERNANCE', Years: 1 } }
const locked = '{Mode: ObjectLockMode, Until: ObjectLockRetainUntilDate, Hold: ObjectLockLegalHoldStatus}'
const retention = (Mode: string, years: number): (string | object)[] => [
  '--retention',
  { Mode, RetainUntilDate: `${dateIn(years)}Z` },
]

const onTheBucket: readonly Call[] = [
  {
    operation: 'CreateBucket',
    about: 'makes room that can be locked',
    words: [...bucket, '--object-lock-enabled-for-bucket'],
    prints: { Location: `/${name}` },
  },
  {
    operation: 'CreateBucket',
    about: 'makes room that is not',
    words: open,
    prints: { Location: '/s3api-locks-open' },
  },
  {
    operation: 'GetObjectLockConfiguration',
    about: 'says that there is none',
    words: open,
    fails: 'ObjectLockConfigurationNotFoundError',
  },
  {
    operation: 'GetObjectLockConfiguration',
    about: 'says that locks are enabled',
    words: bucket,
    prints: { ObjectLockConfiguration: { ObjectLockEnabled: 'Enabled' } },
  },
  {
    operation: 'PutObjectLockConfiguration',
    about: 'is refused where versions are not kept',
    words: [...open, '--object-lock-configuration', 'ObjectLockEnabled=Enabled'],
    fails: 'InvalidBucketState',
  },
  {
    operation: 'PutObjectLockConfiguration',
    about: 'sets a rule for new versions',
    words: [
      ...[...bucket, '--checksum-algorithm', 'SHA256', '--object-lock-configuration'],
      { ObjectLockEnabled: 'Enabled', Rule: rule },
    ],
  },
  {
    operation: 'GetObjectLockConfiguration',
    about: 'gives the rule',
    words: bucket,
    prints: { ObjectLockConfiguration: { ObjectLockEnabled: 'Enabled', Rule: rule } },
  },
  {
    operation: 'PutBucketVersioning',
    about: 'may not suspend what keeps locked versions',
    words: [...bucket, '--versioning-configuration', 'Status=Suspended'],
    fails: 'InvalidBucketState',
  },
]

const onVersions: readonly Call[] = [
  {
    operation: 'PutObject',
    about: 'makes a version under the rule',
    words: putWords(),
    prints: put,
    keeps: { ruled: 'Version' },
  },
  {
    operation: 'HeadObject',
    about: 'shows the lock that the rule gave',
    words: [...object, '--query', locked],
    prints: { Mode: 'GOVERNANCE', Until: expect.stringContaining(dateIn(1).slice(0, 5)), Hold: null },
  },
  {
    operation: 'DeleteObject',
    about: 'is refused for a locked version',
    words: [...object, '--version-id', '<ruled>'],
    fails: 'AccessDenied',
  },
  {
    operation: 'DeleteObject',
    about: 'bypasses governance when told so',
    words: [...object, '--version-id', '<ruled>', bypass],
    prints: { VersionId: '<ruled>' },
  },
  {
    operation: 'PutObject',
    about: 'locks and holds what it stores',
    words: putWords(
      ...['--object-lock-mode', 'GOVERNANCE', '--object-lock-retain-until-date', `${dateIn(2)}Z`],
      ...['--object-lock-legal-hold-status', 'ON'],
    ),
    prints: put,
    keeps: { held: 'Version' },
  },
  {
    operation: 'GetObject',
    about: 'shows lock and hold',
    words: [...object, '--query', locked, 'locks-1'],
    prints: { Mode: 'GOVERNANCE', Until: until(2), Hold: 'ON' },
    saves: 'abcdefgh',
  },
  { operation: 'GetObjectLegalHold', about: 'is on', words: held, prints: { LegalHold: { Status: 'ON' } } },
  {
    operation: 'DeleteObject',
    about: 'is refused for what is held, bypass or not',
    words: [...held, bypass],
    fails: 'AccessDenied',
  },
  {
    operation: 'PutObjectLegalHold',
    about: 'lifts the hold',
    words: [...held, '--legal-hold', 'Status=OFF', '--checksum-algorithm', 'SHA256'],
  },
  { operation: 'GetObjectLegalHold', about: 'is off', words: held, prints: { LegalHold: { Status: 'OFF' } } },
  {
    operation: 'GetObjectRetention',
    about: 'gives mode and date',
    words: held,
    prints: { Retention: { Mode: 'GOVERNANCE', RetainUntilDate: until(2) } },
  },
  {
    operation: 'PutObjectRetention',
    about: 'lengthens it',
    words: [...held, ...retention('GOVERNANCE', 4), '--checksum-algorithm', 'SHA256'],
  },
  {
    operation: 'PutObjectRetention',
    about: 'does not shorten it',
    words: [...held, ...retention('GOVERNANCE', 3)],
    fails: 'AccessDenied',
  },
  {
    operation: 'PutObjectRetention',
    about: 'shortens it past governance',
    words: [...held, ...retention('GOVERNANCE', 3), bypass],
  },
  {
    operation: 'GetObjectRetention',
    about: 'gives the new date',
    words: object,
    prints: { Retention: { Mode: 'GOVERNANCE', RetainUntilDate: until(3) } },
  },
  {
    operation: 'DeleteObjects',
    about: 'says which version is locked',
    // Beside errors, version 2 of the CLI prints metadata of the answer.
    words: [...bucket, '--delete', 'Objects=[{Key=k,VersionId=<held>}]', '--query', 'Errors'],
    prints: [{ Key: 'k', VersionId: '<held>', Code: 'AccessDenied', Message: expect.any(String) }],
  },
  {
    operation: 'PutObjectRetention',
    about: 'makes it one that nobody lifts',
    words: [...held, ...retention('COMPLIANCE', 3), bypass],
  },
  {
    operation: 'DeleteObject',
    about: 'is refused then, bypass or not',
    words: [...held, bypass],
    fails: 'AccessDenied',
  },
  {
    operation: 'CreateMultipartUpload',
    about: 'begins an upload that will be locked',
    words: [
      ...[...object, '--object-lock-mode', 'COMPLIANCE', '--object-lock-retain-until-date', `${dateIn(2)}Z`],
      ...['--object-lock-legal-hold-status', 'ON', '--query', 'Key'],
    ],
    prints: 'k',
  },
  {
    operation: 'PutObject',
    about: 'stores what cannot be locked',
    words: [...open, '--key', 'k', '--query', 'VersionId'],
    prints: null,
  },
  {
    operation: 'GetObjectLegalHold',
    about: 'has none where nothing is locked',
    words: [...open, '--key', 'k'],
    fails: 'InvalidRequest',
  },
  {
    operation: 'GetObjectRetention',
    about: 'has none where nothing is locked',
    words: [...open, '--key', 'k'],
    fails: 'InvalidRequest',
  },
]

export const locks: Scenario = { name: 'locks', calls: [...onTheBucket, ...onVersions] }
