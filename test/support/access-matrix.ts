/** Sends what the matrix of access says: what each operation needs, who asks for it, and what makes them who they are. */
import type { AccountKey } from '../../src/auth/credentials.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { admits } from '../../src/http/admission.ts'
import type { Identities } from '../../src/identities/identities.ts'
import type { OperationContext } from '../../src/operations/context.ts'
import { operations } from '../../src/operations/table.ts'
import {
  type Asked,
  type Asker,
  type By,
  expiresInMs,
  type NarrowKeys,
  type Need,
  type RunTimeKeys,
} from './access-askers.ts'
import { formBytes, formType } from './forms.ts'
import type { SignedRequest, SigningKey } from './signer.ts'
import type { StsWorld } from './sts-world.ts'
import { md5Base64 } from './wire-checksums.ts'
import { type Ask, signAsk, type Wire, wireBucket } from './wire-client.ts'
import { matrixAsk } from './wire-matrix.ts'
import { mainKey, siteName } from './wire-server.ts'

type AnyOperation = Operation<OperationContext>

/** Ids stand in for those of the upload that the tests open. */
const someUpload = { uploadId: 'upload', etag: 'etag' }

/** What handlers ask for: of the source of a copy, and of each entry. */
const askedByHandlers: Readonly<Record<string, readonly (readonly [permission: string, key: string])[]>> = {
  CopyObject: [
    ['s3:GetObject', 'b'],
    // The source has tags, and they are copied.
    ['s3:GetObjectTagging', 'b'],
    ['s3:PutObjectTagging', 'a'],
  ],
  UploadPartCopy: [['s3:GetObject', 'a']],
  DeleteObjects: [['s3:DeleteObject', 'a']],
  PutBucketReplication: [['s3:GetObjectVersionForReplication', '*']],
}

/** What they ask for at a site, where no bucket's policy can allow anything. */
const askedAtSites: Readonly<Record<string, readonly string[]>> = {
  PutBucketReplication: ['s3:ReplicateObject', 's3:ReplicateTags', 's3:ReplicateDelete'],
}

/** As in S3, also where everybody may write. */
const neverUnsigned: ReadonlySet<string> = new Set(['CreateMultipartUpload', 'CopyObject', 'UploadPartCopy'])

function askedOf(operation: AnyOperation): Asked {
  const { name, implemented, errors, authentication } = operation
  const ask = matrixAsk(name, someUpload)
  const isForm = authentication === 'form'
  return {
    name,
    needs: needsOf(operation, ask),
    needsAtSites: (askedAtSites[name] ?? []).map((each) => needed(each, siteName, 'copies/*')),
    isOfBucket: errors.includes('NoSuchBucket'),
    isOfAccount: operation.target === 'account',
    admitsUnsigned: !neverUnsigned.has(name) && (isForm || admits({ authentication, implemented, errors }, 'none')),
    isForm,
  }
}

function needsOf({ name, target, permission, versionPermission, implemented, input }: AnyOperation, ask: Ask): Need[] {
  const { bucket = target === 'account' ? '' : wireBucket, key = ask.form?.key ?? '' } = ask
  const own = ask.query?.versionId === undefined ? permission : (versionPermission ?? permission)
  const sent = new Set(Object.keys({ ...ask.vendor, ...ask.headers }).map((field) => field.toLowerCase()))
  const ofFields = Object.values(input).flatMap(({ name: field, permissions = [] }) =>
    sent.has(field.toLowerCase()) ? permissions : [],
  )
  const needs = [own, ofFields].flat().map((each) => needed(each, bucket, key))
  // Nothing is looked for where nothing will be done.
  if (!implemented) return needs.map((need) => ({ ...need, resource: '*' }))
  return [...needs, ...(askedByHandlers[name] ?? []).map(([each, of]) => needed(each, bucket, of))]
}

function needed(permission: string, bucket: string, key: string): Need {
  const named = bucket === '' ? '*' : key === '' ? bucket : `${bucket}/${key}`
  return { permission, bucket, resource: `arn:aws:s3:::${named}` }
}

export const allAsked: readonly Asked[] = operations.map(askedOf)

const bypass = 's3:BypassGovernanceRetention'

/** Operations that can pass over locks, where they are to: on `governed`, a version of which is locked. */
export const allBypassing: readonly Asked[] = operations
  .filter(({ input }) => 'bypassGovernanceRetention' in input)
  .map((operation) => ({
    ...askedOf(operation),
    needs: [
      needed(operation.name.startsWith('Delete') ? 's3:DeleteObjectVersion' : known(operation), 'locked', 'governed'),
      needed(bypass, 'locked', 'governed'),
    ],
  }))

function known({ name, permission }: AnyOperation): string {
  if (typeof permission === 'string') return permission
  throw new Error(`${name} needs more than one permission`)
}

/** One key for each operation, and one for each permission that it must not have. */
export function narrowKeys(
  allAsked: readonly Asked[],
  kind: string,
): { keys: readonly AccountKey[]; narrow: NarrowKeys } {
  const all = [
    ...new Set(
      allAsked.flatMap(({ needs, needsAtSites }) => [...needs, ...needsAtSites].map(({ permission }) => permission)),
    ),
  ]
  const keyOf = (name: string, permissions: readonly string[]): AccountKey => ({
    accessKeyId: `AK-${kind}-${name.replace(':', '-')}`,
    secretAccessKey: 'secret-of-a-narrow-key',
    permissions,
  })
  const exactly = new Map(
    allAsked.map(({ name, needs, needsAtSites }) => [
      name,
      keyOf(
        name,
        [...needs, ...needsAtSites].map(({ permission }) => permission),
      ),
    ]),
  )
  const without = new Map(
    all.map((each) => [
      each,
      keyOf(
        `NOT-${each}`,
        all.filter((other) => other !== each),
      ),
    ]),
  )
  const nothing = keyOf('NOTHING', [])
  const keyNamed = (keys: ReadonlyMap<string, AccountKey>, name: string): SigningKey => {
    const key = keys.get(name)
    if (key === undefined) throw new Error(`no key was made for ${name}`)
    return key
  }
  return {
    keys: [...exactly.values(), ...without.values(), nothing],
    narrow: {
      exactly: ({ name }) => keyNamed(exactly, name),
      without: (permission) => keyNamed(without, permission),
      nothing,
    },
  }
}

/** Leaves the clock of the world as it is. */
export async function runTimeKeys(world: StsWorld): Promise<RunTimeKeys> {
  const { users, keys } = world.identities
  await users.create('main', { name: 'ann' })
  await users.create('main', { name: 'eve' })
  await users.create('other', { name: 'bob' })
  const disabled = await keys.add({ accountId: 'main' })
  const ofDisabledUser = await keys.add({ accountId: 'main', user: 'eve' })
  const expiresMs = world.now() + expiresInMs
  const session = { Action: 'AssumeRole', DurationSeconds: '900' }
  const endedSession = await world.keysOf(session, { key: ofDisabledUser })
  world.putForward(-sessionAgeMs)
  const expiredSession = await world.keysOf(session)
  world.putForward(sessionAgeMs)
  const made = {
    ann: await keys.add({ accountId: 'main', user: 'ann' }),
    bob: await keys.add({ accountId: 'other', user: 'bob' }),
    disabled,
    ofDisabledUser,
    expiring: await keys.add({ accountId: 'main', expiresMs }),
    expired: await keys.add({ accountId: 'main', expiresMs }),
    expiredSession,
    endedSession,
  }
  await keys.setDisabled(disabled.accessKeyId, true)
  await users.setDisabled('main', 'eve', true)
  return made
}

/** Longer than the shortest session lasts. */
const sessionAgeMs = 1_000_000

const inlinePolicy = 'of-the-matrix'

/** Gives the policy to both users, because each asker is one of them. */
export async function giveUserPolicy({ users }: Identities, statements: readonly unknown[]): Promise<void> {
  for (const [account, name] of [
    ['main', 'ann'],
    ['other', 'bob'],
  ] as const) {
    const document = JSON.stringify({ Version: '2012-10-17', Statement: statements })
    await users.putInlinePolicy(account, name, { name: inlinePolicy, document })
  }
}

export async function takeUserPolicy({ users }: Identities): Promise<void> {
  await users.removeInlinePolicy('main', 'ann', inlinePolicy)
  await users.removeInlinePolicy('other', 'bob', inlinePolicy)
}

const restriction =
  '<PublicAccessBlockConfiguration><RestrictPublicBuckets>true</RestrictPublicBuckets></PublicAccessBlockConfiguration>'

export async function guardBucket(wire: Wire, asker: Asker, asked: Asked): Promise<void> {
  const bucket = asked.needs[0]?.bucket ?? wireBucket
  if (!asked.isOfBucket || asker.bucketPolicy === undefined) return
  const body = JSON.stringify({ Version: '2012-10-17', Statement: asker.bucketPolicy(asked) })
  await wire.must({ method: 'PUT', bucket, query: { policy: '' }, body })
  if (asker.restrictsPublic !== true) return
  const headers = { 'Content-MD5': md5Base64(restriction) }
  await wire.must({ method: 'PUT', bucket, query: { publicAccessBlock: '' }, headers, body: restriction })
}

/** The request as the asker sends it. */
export async function requestOf(ask: Ask, asker: Asker, asked: Asked, world: StsWorld): Promise<SignedRequest> {
  const { port, style } = world.wire
  const by = typeof asker.ask === 'function' ? asker.ask(asked) : asker.ask
  if (asked.isForm && by.unsigned === true) return unsignedForm(ask, port)
  const { token, ...signing } = await signingOf(by, asker, asked, world)
  const vendor = token === undefined ? ask.vendor : { ...ask.vendor, 'security-token': token }
  const signedAtMs = world.now()
  return signAsk({ ...ask, ...signing, signedAtMs, ...(vendor === undefined ? {} : { vendor }) }, port, style)
}

type Signing = Pick<Ask, 'signedBy' | 'unsigned'> & { token?: string | undefined }

async function signingOf({ session, ...by }: By, asker: Asker, asked: Asked, world: StsWorld): Promise<Signing> {
  const { signedBy: key = mainKey } = by
  if (session === undefined) return { ...by, token: 'sessionToken' in key ? String(key.sessionToken) : undefined }
  const statements = asker.sessionPolicy?.(asked)
  const Policy = statements && JSON.stringify({ Version: '2012-10-17', Statement: statements })
  const asksFor = { Action: 'AssumeRole', ...(Policy === undefined ? {} : { Policy }) }
  const { sessionToken, ...signedBy } = await world.keysOf(asksFor, { key })
  return { signedBy, token: session === 'with token' ? sessionToken : undefined }
}

function unsignedForm({ bucket = wireBucket, form = {}, body: content = '' }: Ask, port: number): SignedRequest {
  const body = formBytes(Object.entries(form), { filename: 'file.txt', content })
  return {
    method: 'POST',
    target: `/${bucket}`,
    headers: [
      ['Host', `127.0.0.1:${port}`],
      ['Content-Type', formType],
      ['Content-Length', String(body.length)],
    ],
    body,
  }
}
