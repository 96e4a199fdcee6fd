/** Who asks in the matrix of access, and what makes them who they are: keys, users and the policy of the bucket. Whether they may, a row says by itself. */
import type { SigningKey } from './signer.ts'
import type { TemporaryKey } from './sts-world.ts'
import type { Ask } from './wire-client.ts'
import { mainKey, otherKey } from './wire-server.ts'

/** A permission, and the ARN of what it is needed for. */
export interface Need {
  permission: string
  bucket: string
  resource: string
}

/** An operation, as far as who may use it goes. */
export interface Asked {
  name: string
  needs: readonly Need[]
  /** Only policies of users, sessions and keys can allow it. */
  needsAtSites: readonly Need[]
  /** Its bucket decides; otherwise who asks acts for the own account. */
  isOfBucket: boolean
  /** It is about the account that owns the buckets, and nobody else's. */
  isOfAccount: boolean
  /** Whoever signs nothing is heard at all. */
  admitsUnsigned: boolean
  /** A form signs itself. */
  isForm: boolean
}

export interface Statement {
  Effect: 'Allow' | 'Deny'
  Principal?: unknown
  Action?: string
  NotAction?: string
  Resource: string
}

/** How a request is signed. `session`: by temporary keys of that key, or without their token. */
export interface By extends Pick<Ask, 'signedBy' | 'unsigned'> {
  session?: 'with token' | 'without token' | undefined
}

export interface Asker {
  who: string
  /** The policy of the bucket in question. Absent: it has none. */
  bucketPolicy?(asked: Asked): readonly Statement[]
  /** The policy of the user `ann` in that account. */
  userPolicy?(asked: Asked): readonly Statement[]
  restrictsPublic?: true
  /** The bucket was recovered, and nobody has confirmed it. */
  isUnconfirmed?: true
  /** The policy of temporary keys that are made for the one request. */
  sessionPolicy?(asked: Asked): readonly Statement[]
  ask: By | ((asked: Asked) => By)
  allowed(asked: Asked): boolean
  /** The code of the answer, if it is not AccessDenied. */
  code?: string
  /** How far the server's clock is ahead when it is asked. */
  laterMs?: number
}

const arnOf = (principal: string): string => `arn:aws:iam::${principal}`
const allow = (needs: readonly Need[], Principal?: unknown): Statement[] =>
  needs.map(({ permission, resource }) => ({
    Effect: 'Allow',
    ...(Principal === undefined ? {} : { Principal }),
    Action: permission,
    Resource: resource,
  }))
const deny = ({ permission, resource }: Need, Principal?: unknown): Statement => ({
  Effect: 'Deny',
  ...(Principal === undefined ? {} : { Principal }),
  Action: permission,
  Resource: resource,
})
const other = { AWS: arnOf('other:root') }
const ann = { AWS: arnOf('main:user/ann') }
const everything: Statement = { Effect: 'Allow', Action: 's3:*', Resource: '*' }

/** Whatever a policy says, the account's own key can repair it. */
const repairs = ['s3:GetBucketPolicy', 's3:PutBucketPolicy', 's3:DeleteBucketPolicy']
const isRepair = ({ needs }: Asked): boolean => needs.every(({ permission }) => repairs.includes(permission))

const always = (): boolean => true
const never = (): boolean => false
const atNoSite = ({ needsAtSites }: Asked): boolean => needsAtSites.length === 0
const notOfBucket = ({ isOfBucket }: Asked): boolean => !isOfBucket
/** For their own account, another account and its users can do what no bucket decides. */
const forTheirOwn = ({ isOfBucket, isOfAccount }: Asked): boolean => !isOfBucket && !isOfAccount
const notOfAccount = ({ isOfAccount }: Asked): boolean => !isOfAccount

/** Keys of the configuration: what each may is in its list. */
export interface NarrowKeys {
  exactly(asked: Asked): SigningKey
  /** Everything that any operation needs, but for this. */
  without(permission: string): SigningKey
  nothing: SigningKey
}

/** Made at run time. */
export interface RunTimeKeys {
  ann: SigningKey
  /** A user of the other account. */
  bob: SigningKey
  disabled: SigningKey
  ofDisabledUser: SigningKey
  /** Both expire at the same time; the second is asked for afterwards. */
  expiring: SigningKey
  expired: SigningKey
  /** Temporary keys, with their token. */
  expiredSession: TemporaryKey
  /** The session of a user who was disabled afterwards. */
  endedSession: TemporaryKey
}

/** Within what clocks may differ. */
export const expiresInMs = 600_000

/** `annOf` the account that owns the buckets; `bob` of the other one. */
export function askersOf({ needs }: Asked, narrow: NarrowKeys, runTime: () => RunTimeKeys): Asker[] {
  const bySigned: BySigned = (key, session) => () => ({ signedBy: runTime()[key], session })
  return [
    { who: 'the owner’s key', ask: { signedBy: mainKey }, allowed: always },
    { who: 'a key narrowed to it', ask: (asked) => ({ signedBy: narrow.exactly(asked) }), allowed: always },
    { who: 'a key narrowed to nothing', ask: { signedBy: narrow.nothing }, allowed: never },
    ...needs.map(
      ({ permission }): Asker => ({
        who: `a key narrowed to all but ${permission}`,
        ask: { signedBy: narrow.without(permission) },
        allowed: never,
      }),
    ),
    { who: 'another account', ask: { signedBy: otherKey }, allowed: forTheirOwn },
    {
      who: 'another account that the bucket’s policy allows it',
      bucketPolicy: (asked) => allow(asked.needs, other),
      ask: { signedBy: otherKey },
      allowed: notOfAccount,
    },
    ...needs.map(
      (need): Asker => ({
        who: `another account that the bucket’s policy allows all but ${need.permission}`,
        bucketPolicy: () => [
          { Effect: 'Allow', Principal: other, NotAction: need.permission, Resource: need.resource },
        ],
        ask: { signedBy: otherKey },
        allowed: forTheirOwn,
      }),
    ),
    {
      who: 'another account that the policy of the bucket allows it elsewhere',
      bucketPolicy: (asked) =>
        allow(
          asked.needs.map((need) => ({ ...need, resource: `${need.resource.replace(/\/.*/, '')}/elsewhere` })),
          other,
        ).map(({ Action, ...statement }) => ({ ...statement, Action: 's3:*Object*' })),
      ask: { signedBy: otherKey },
      allowed: forTheirOwn,
    },
    ...needs.map(
      (need): Asker => ({
        who: `the owner’s key, denied ${need.permission} by the bucket’s policy`,
        bucketPolicy: () => [deny(need, '*')],
        ask: { signedBy: mainKey },
        allowed: (asked) => !asked.isOfBucket || isRepair(asked),
      }),
    ),
    {
      who: 'the owner’s key, where the bucket’s policy denies it to another account',
      bucketPolicy: (asked) => asked.needs.map((need) => deny(need, other)),
      ask: { signedBy: mainKey },
      allowed: always,
    },
    { who: 'nobody', ask: { unsigned: true }, allowed: never },
    {
      who: 'nobody, where the bucket’s policy allows it to all',
      bucketPolicy: (asked) => allow(asked.needs, '*'),
      ask: { unsigned: true },
      allowed: (asked) => asked.admitsUnsigned && atNoSite(asked),
    },
    {
      who: 'nobody, where a public access block restricts the policy that allows it to all',
      bucketPolicy: (asked) => allow(asked.needs, '*'),
      restrictsPublic: true,
      ask: { unsigned: true },
      allowed: never,
    },
    ...unconfirmed(narrow, bySigned),
    ...users(needs, bySigned),
    ...sessions(needs, bySigned),
    {
      who: 'a key that is disabled',
      ask: bySigned('disabled'),
      allowed: never,
      code: 'InvalidAccessKeyId',
    },
    { who: 'a key of a disabled user', ask: bySigned('ofDisabledUser'), allowed: never, code: 'InvalidAccessKeyId' },
    { who: 'a key that will expire', ask: bySigned('expiring'), allowed: always },
    {
      who: 'a key that has expired',
      ask: bySigned('expired'),
      laterMs: 1.2 * expiresInMs,
      allowed: never,
      code: 'InvalidAccessKeyId',
    },
  ]
}

/** The same as those who are allowed otherwise, where nobody has confirmed a recovered bucket. */
function unconfirmed(narrow: NarrowKeys, bySigned: BySigned): readonly Asker[] {
  const bucketPolicy = ({ needs }: Asked): readonly Statement[] => allow(needs, '*')
  const askers: readonly Pick<Asker, 'who' | 'ask' | 'userPolicy' | 'allowed'>[] = [
    { who: 'the owner’s key', ask: { signedBy: mainKey }, allowed: always },
    { who: 'a key narrowed to it', ask: (asked) => ({ signedBy: narrow.exactly(asked) }), allowed: notOfBucket },
    { who: 'another account', ask: { signedBy: otherKey }, allowed: forTheirOwn },
    { who: 'nobody', ask: { unsigned: true }, allowed: never },
    { who: 'a user', userPolicy: () => [everything], ask: bySigned('ann'), allowed: notOfBucket },
  ]
  return askers.map((asker) => ({ ...asker, who: `${asker.who}, unconfirmed`, bucketPolicy, isUnconfirmed: true }))
}

type BySigned = (key: keyof RunTimeKeys, session?: By['session']) => () => By

function sessions(needs: readonly Need[], bySigned: BySigned): readonly Asker[] {
  const ofOwner: By = { signedBy: mainKey, session: 'with token' }
  const ofOther: By = { signedBy: otherKey, session: 'with token' }
  return [
    { who: 'a temporary key of the owner', ask: ofOwner, allowed: always },
    {
      who: 'a temporary key of the owner whose session policy allows exactly this',
      sessionPolicy: (asked) => allow([...asked.needs, ...asked.needsAtSites]),
      ask: ofOwner,
      allowed: always,
    },
    ...needs.flatMap((need): Asker[] => [
      {
        who: `a temporary key of the owner whose session policy allows all but ${need.permission}`,
        sessionPolicy: () => [{ Effect: 'Allow', NotAction: need.permission, Resource: '*' }],
        ask: ofOwner,
        allowed: never,
      },
      {
        who: `a temporary key of the owner, denied ${need.permission} by the bucket’s policy`,
        bucketPolicy: () => [deny(need, '*')],
        ask: ofOwner,
        allowed: (asked) => !asked.isOfBucket || isRepair(asked),
      },
    ]),
    { who: 'a temporary key of a user without policies', ask: bySigned('ann', 'with token'), allowed: never },
    {
      who: 'a temporary key of a user whose policy allows exactly this',
      userPolicy: (asked) => allow([...asked.needs, ...asked.needsAtSites]),
      ask: bySigned('ann', 'with token'),
      allowed: always,
    },
    { who: 'a temporary key of another account', ask: ofOther, allowed: forTheirOwn },
    {
      who: 'a temporary key of another account that the bucket’s policy allows it',
      bucketPolicy: (asked) => allow(asked.needs, other),
      ask: ofOther,
      allowed: notOfAccount,
    },
    {
      who: 'a temporary key without its token',
      ask: { signedBy: mainKey, session: 'without token' },
      allowed: never,
      code: 'InvalidAccessKeyId',
    },
    { who: 'a temporary key that has expired', ask: bySigned('expiredSession'), allowed: never, code: 'ExpiredToken' },
    {
      who: 'a temporary key of a disabled user',
      ask: bySigned('endedSession'),
      allowed: never,
      code: 'InvalidAccessKeyId',
    },
  ]
}

function users(needs: readonly Need[], bySigned: BySigned): readonly Asker[] {
  return [
    { who: 'a user without policies', ask: bySigned('ann'), allowed: never },
    {
      who: 'a user whose policy allows exactly this',
      userPolicy: (asked) => allow([...asked.needs, ...asked.needsAtSites]),
      ask: bySigned('ann'),
      allowed: always,
    },
    ...needs.flatMap((need): Asker[] => [
      {
        who: `a user whose policy allows all but ${need.permission}`,
        userPolicy: () => [{ Effect: 'Allow', NotAction: need.permission, Resource: '*' }],
        ask: bySigned('ann'),
        allowed: never,
      },
      {
        who: `a user whose policy allows everything and denies ${need.permission}`,
        userPolicy: () => [everything, deny(need)],
        ask: bySigned('ann'),
        allowed: never,
      },
      {
        who: `a user whose policy allows everything, denied ${need.permission} by the bucket’s policy`,
        userPolicy: () => [everything],
        bucketPolicy: () => [deny(need, ann)],
        ask: bySigned('ann'),
        allowed: (asked) => !asked.isOfBucket,
      },
    ]),
    {
      who: 'a user whom only the bucket’s policy allows it',
      bucketPolicy: (asked) => allow(asked.needs, ann),
      ask: bySigned('ann'),
      allowed: (asked) => asked.isOfBucket && atNoSite(asked),
    },
    {
      who: 'a user of another account that the bucket’s policy allows it',
      bucketPolicy: (asked) => allow(asked.needs, other),
      ask: bySigned('bob'),
      // The account has not passed it on.
      allowed: never,
    },
    {
      who: 'a user of another account that both allow it',
      userPolicy: () => [everything],
      bucketPolicy: (asked) => allow(asked.needs, other),
      ask: bySigned('bob'),
      allowed: notOfAccount,
    },
    {
      who: 'a user of another account whom only that account allows it',
      userPolicy: () => [everything],
      ask: bySigned('bob'),
      allowed: forTheirOwn,
    },
  ]
}
