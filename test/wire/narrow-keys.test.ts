/** Keys that may do only some of what their account may: what a request asks for beside its operation (a lock, tags, versions) takes a permission of its own. */
import { expect } from 'vitest'
import type { AccountKey } from '../../src/auth/credentials.ts'
import { md5Base64 } from '../support/wire-checksums.ts'
import type { Ask, Wire } from '../support/wire-client.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import {
  aVersionId,
  compliant,
  enabled,
  history,
  leaves,
  lockHeaders,
  onHold,
  putVersion,
  vault,
} from '../support/wire-versions.ts'

/** Keys of the owner's that tests sign with. */
const keys: AccountKey[] = []
/** One with these permissions and no others. */
function signedBy(...permissions: string[]): AccountKey {
  const key = { accessKeyId: `AKNARROW${keys.length}`, secretAccessKey: 'secret-of-a-narrow-key', permissions }
  keys.push(key)
  return key
}

interface Header {
  what: string
  vendor: Record<string, string>
  needs: readonly string[]
}

const writing: readonly Header[] = [
  { what: 'retention', vendor: lockHeaders('GOVERNANCE', 24), needs: ['s3:PutObjectRetention'] },
  { what: 'a legal hold', vendor: onHold, needs: ['s3:PutObjectLegalHold'] },
  { what: 'no legal hold', vendor: { 'object-lock-legal-hold': 'OFF' }, needs: ['s3:PutObjectLegalHold'] },
  {
    what: 'retention and a legal hold',
    vendor: { ...compliant, ...onHold },
    needs: ['s3:PutObjectRetention', 's3:PutObjectLegalHold'],
  },
  { what: 'tags', vendor: { tagging: 'a=1' }, needs: ['s3:PutObjectTagging'] },
  { what: 'an access control list', vendor: { acl: 'private' }, needs: ['s3:PutObjectAcl'] },
]

const lockable = async (wire: Wire): Promise<void> => {
  await vault(wire)
  await putVersion(wire, 'source', 'one')
}
const nothingWritten = async (wire: Wire): Promise<void> => {
  expect((await wire.ask({ method: 'HEAD', key: 'a' })).status).toBe(404)
  expect((await wire.must({ method: 'GET', query: { uploads: '' } })).body.toString()).not.toContain('<Upload>')
}

/** With the permission of the operation alone each header is refused; with one less than it needs, too; with all it is taken. */
function headerRows(ask: Ask, own: readonly string[], answer: Record<string, unknown>): Row[] {
  const taken = { given: lockable, status: 200, vendor: answer }
  const asked = (vendor: Record<string, string>, permissions: readonly string[], more: Partial<Ask> = {}): Ask => ({
    ...ask,
    ...more,
    vendor: { ...ask.vendor, ...vendor },
    signedBy: signedBy(...permissions),
  })
  return [
    { it: 'takes its own permission for itself', ...taken, ask: asked({}, own) },
    ...writing.flatMap(({ what, vendor, needs }): Row[] => [
      ...needs.flatMap((lacking): Row[] => {
        const permissions = [...own, ...needs.filter((each) => each !== lacking)]
        return [
          {
            it: `refuses ${what} to a key without ${lacking}`,
            given: lockable,
            ...refusal('AccessDenied', {}),
            ask: asked(vendor, permissions),
            afterwards: nothingWritten,
          },
          {
            it: `refuses ${what} to a URL by a key without ${lacking}`,
            given: lockable,
            ...refusal('AccessDenied', {}),
            ask: asked(vendor, permissions, { presigned: true }),
            afterwards: nothingWritten,
          },
        ]
      }),
      {
        it: `takes ${what} from a key that may`,
        ...taken,
        ask: asked(vendor, [...own, ...needs]),
      },
      {
        it: `refuses ${what} to a key that may do that alone`,
        given: lockable,
        ...refusal('AccessDenied', {}),
        ask: asked(vendor, needs),
        afterwards: nothingWritten,
      },
    ]),
  ]
}

const put: Ask = { method: 'PUT', key: 'a', body: 'x', headers: { 'Content-MD5': md5Base64('x') } }
const post: Ask = {
  method: 'POST',
  form: { key: 'a', success_action_status: '200' },
  body: 'x',
  headers: { 'Content-MD5': md5Base64('x') },
}
const begin: Ask = { method: 'POST', key: 'a', query: { uploads: '' } }
const copy: Ask = { method: 'PUT', key: 'a', vendor: { 'copy-source': '/wire/source' } }

const named = { 'version-id': aVersionId }
const puts = headerRows(put, ['s3:PutObject'], named)
const posts = headerRows(post, ['s3:PutObject'], named)
const begins = headerRows(begin, ['s3:PutObject'], {})
const copies = headerRows(copy, ['s3:PutObject', 's3:GetObject'], { ...named, 'copy-source-version-id': aVersionId })

const taggedSource = async (wire: Wire): Promise<void> => {
  await wire.must({ method: 'PUT', key: 'source', body: 'x', vendor: { tagging: 'a=1' } })
}
const copyingTags = ['s3:PutObject', 's3:GetObject', 's3:GetObjectTagging', 's3:PutObjectTagging'] as const
copies.push(
  ...(['s3:GetObjectTagging', 's3:PutObjectTagging'] as const).map(
    (lacking): Row => ({
      it: `refuses to copy tags for a key without ${lacking}`,
      given: taggedSource,
      ...refusal('AccessDenied', {}),
      ask: { ...copy, signedBy: signedBy(...copyingTags.filter((each) => each !== lacking)) },
      afterwards: nothingWritten,
    }),
  ),
  {
    it: 'copies tags for a key that may read and write them',
    status: 200,
    given: taggedSource,
    ask: { ...copy, signedBy: signedBy(...copyingTags) },
  },
  {
    it: 'copies without the tags for a key that may not read them',
    status: 200,
    given: taggedSource,
    ask: {
      ...copy,
      vendor: { ...copy.vendor, 'tagging-directive': 'REPLACE' },
      signedBy: signedBy('s3:PutObject', 's3:GetObject'),
    },
  },
)

const makes: Row[] = (
  [
    [
      'Object Lock',
      { 'bucket-object-lock-enabled': 'true' },
      ['s3:PutBucketObjectLockConfiguration', 's3:PutBucketVersioning'],
    ],
    ['object ownership', { 'object-ownership': 'BucketOwnerEnforced' }, ['s3:PutBucketOwnershipControls']],
    ['an access control list', { acl: 'private' }, ['s3:PutBucketAcl']],
    ['tags', {}, ['s3:TagResource']],
  ] as const
).flatMap(([what, vendor, needs]): Row[] => {
  const tags = '<Tags><Tag><Key>a</Key><Value>1</Value></Tag></Tags>'
  const inside = what === 'tags' ? tags : ''
  const ask = {
    method: 'PUT',
    vendor,
    body: `<CreateBucketConfiguration>${inside}</CreateBucketConfiguration>`,
  } as const
  return [
    ...needs.map(
      (lacking): Row => ({
        it: `refuses ${what} to a key without ${lacking}`,
        withoutBucket: true,
        ...refusal('AccessDenied', {}),
        ask: { ...ask, signedBy: signedBy('s3:CreateBucket', ...needs.filter((each) => each !== lacking)) },
        afterwards: async (wire) => {
          expect((await wire.ask({ method: 'HEAD' })).status).toBe(404)
        },
      }),
    ),
    {
      it: `takes ${what} from a key that may`,
      withoutBucket: true,
      status: 200,
      ask: { ...ask, signedBy: signedBy('s3:CreateBucket', ...needs) },
    },
  ]
})
makes.push({
  it: 'takes Object Lock that is not asked for from a key that may not ask for it',
  withoutBucket: true,
  status: 200,
  ask: { method: 'PUT', vendor: { 'bucket-object-lock-enabled': 'false' }, signedBy: signedBy('s3:CreateBucket') },
})

const denied = (more: object) => ({ Key: 'a', Code: 'AccessDenied', Message: expect.any(String), ...more })
/** Deletes `a`, and removes its version `v1`. */
const document = (v1: string): string =>
  `<Delete><Object><Key>a</Key></Object><Object><Key>a</Key><VersionId>${v1}</VersionId></Object></Delete>`
const deletion = (...permissions: string[]): Pick<Row, 'status' | 'ask' | 'given'> => ({
  status: 200,
  given: async (wire) => {
    const facts = await history(wire)
    return { ...facts, md5: md5Base64(document(facts.v1 ?? '')) }
  },
  ask: {
    method: 'POST',
    query: { delete: '' },
    headers: { 'Content-MD5': '{{md5}}' },
    body: document('{{v1}}'),
    signedBy: signedBy(...permissions),
  },
})

const deletions: Row[] = [
  {
    it: 'refuses what names a version to a key that may not remove versions, and deletes the other',
    ...deletion('s3:DeleteObject'),
    xml: {
      DeleteResult: {
        Deleted: { Key: 'a', DeleteMarker: 'true', DeleteMarkerVersionId: expect.any(String) },
        Error: denied({ VersionId: '{{v1}}' }),
      },
    },
  },
  {
    it: 'removes versions for a key that may do nothing else, and refuses the rest',
    ...deletion('s3:DeleteObjectVersion'),
    xml: { DeleteResult: { Deleted: { Key: 'a', VersionId: '{{v1}}' }, Error: denied({}) } },
    afterwards: leaves('v2*', 'null'),
  },
  {
    it: 'refuses each to a key that may do neither',
    ...deletion('s3:ListBucket'),
    xml: { DeleteResult: { Error: [denied({}), denied({ VersionId: '{{v1}}' })] } },
    afterwards: leaves('v2*', 'v1', 'null'),
  },
]

const attributes = (key: AccountKey, query: Record<string, string> = {}): Ask => ({
  method: 'GET',
  key: 'a',
  query: { attributes: '', ...query },
  vendor: { 'object-attributes': 'ETag' },
  signedBy: key,
})
const current = ['s3:GetObject', 's3:GetObjectAttributes'] as const
const ofVersion = ['s3:GetObjectVersion', 's3:GetObjectVersionAttributes'] as const
const readings: Row[] = [
  {
    it: 'takes both permissions',
    status: 200,
    vendor: named,
    given: enabledWithObject,
    ask: attributes(signedBy(...current)),
  },
  {
    it: 'takes those of versions where one is named',
    status: 200,
    vendor: named,
    given: enabledWithObject,
    ask: attributes(signedBy(...ofVersion), { versionId: '{{v1}}' }),
  },
  ...[...current, ...ofVersion].map(
    (only): Row => ({
      it: `is refused with ${only} alone`,
      ...refusal('AccessDenied', {}),
      given: enabledWithObject,
      ask: attributes(signedBy(only), only.includes('Version') ? { versionId: '{{v1}}' } : {}),
    }),
  ),
]

async function enabledWithObject(wire: Wire) {
  await enabled(wire)
  return { v1: await putVersion(wire, 'a', 'one') }
}

/** Whether an entity tag matches tells what an object is. */
const there = async (wire: Wire): Promise<void> => {
  await wire.must({ method: 'PUT', key: 'a', body: 'x' })
}
const etag = '"9dd4e461268c8034f5c8564e155c67a6"'
const comparing = (ask: Ask, own: string, status: number): Row[] => [
  {
    it: 'refuses a condition on the entity tag to a key that may not read',
    given: there,
    ...refusal('AccessDenied', {}),
    ask: { ...ask, headers: { 'If-Match': etag }, signedBy: signedBy(own) },
  },
  {
    it: 'takes it from a key that may',
    given: there,
    status,
    ask: { ...ask, headers: { 'If-Match': etag }, signedBy: signedBy(own, 's3:GetObject') },
  },
]
puts.push(...comparing({ method: 'PUT', key: 'a', body: 'y' }, 's3:PutObject', 200))
puts.push({
  it: 'takes the condition that there is no object from a key that may not read',
  status: 200,
  ask: {
    method: 'PUT',
    key: 'a',
    body: 'y',
    headers: { 'If-None-Match': '*' },
    signedBy: signedBy('s3:PutObject'),
  },
})
const removals: Row[] = [
  ...comparing({ method: 'DELETE', key: 'a' }, 's3:DeleteObject', 204),
  {
    it: 'takes the condition that there is an object from a key that may not read',
    given: there,
    status: 204,
    ask: { method: 'DELETE', key: 'a', headers: { 'If-Match': '*' }, signedBy: signedBy('s3:DeleteObject') },
  },
  {
    it: 'refuses a condition on the size to a key that may not read',
    given: there,
    ...refusal('AccessDenied', {}),
    ask: { method: 'DELETE', key: 'a', vendor: { 'if-match-size': '1' }, signedBy: signedBy('s3:DeleteObject') },
  },
]
const comparison = `<Delete><Object><Key>a</Key><ETag>${etag}</ETag></Object></Delete>`
const comparingEntry = (...permissions: string[]): Pick<Row, 'status' | 'ask' | 'given'> => ({
  status: 200,
  given: there,
  ask: {
    method: 'POST',
    query: { delete: '' },
    headers: { 'Content-MD5': md5Base64(comparison) },
    body: comparison,
    signedBy: signedBy(...permissions),
  },
})
deletions.push(
  {
    it: 'refuses an entry with an entity tag to a key that may not read',
    ...comparingEntry('s3:DeleteObject'),
    xml: { DeleteResult: { Error: denied({}) } },
  },
  {
    it: 'takes it from a key that may',
    ...comparingEntry('s3:DeleteObject', 's3:GetObject'),
    xml: { DeleteResult: { Deleted: { Key: 'a' } } },
  },
)

wireTests('DeleteObject', removals, { keys })
wireTests('PutObject', puts, { keys })
wireTests('PostObject', posts, { keys })
wireTests('CreateMultipartUpload', begins, { keys })
wireTests('CopyObject', copies, { keys })
wireTests('CreateBucket', makes, { keys })
wireTests('DeleteObjects', deletions, { keys })
wireTests('GetObjectAttributes', readings, { keys })
