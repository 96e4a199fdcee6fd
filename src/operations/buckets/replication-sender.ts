/** Who set replication rules, as the bucket keeps it, and whether that sender may copy a version: what S3 asks of the role of the rules at each copy. Pure. */
import type { ContextValue } from '../../access/access-request.ts'
import { nobody, type Principal, type PrincipalSession } from '../../auth/principal.ts'
import type { BucketRecord } from '../../records/bucket-record.ts'
import type { VersionRecord } from '../../records/records.ts'
import type { ReplicationSender } from '../../records/replication.ts'
import { destinationOf } from '../../rules/replication.ts'
import { authorize } from '../access/authorize.ts'
import { valuesOfOwnRequest } from '../access/own-request.ts'

const keysOfCopy: ReadonlySet<string> = new Set(valuesOfOwnRequest(0).keys())

/** The values that conditions get, noted in `noted`. */
export function noting(
  conditionValue: (key: string) => ContextValue,
  noted: Map<string, string | readonly string[]>,
): (key: string) => ContextValue {
  return (key) => {
    const value = conditionValue(key)
    if (value !== undefined && !keysOfCopy.has(key)) noted.set(key, value)
    return value
  }
}

export function senderOf(
  { accountId, user, permissions, policies, keyPolicy, session }: Principal,
  noted: ReadonlyMap<string, string | readonly string[]>,
): ReplicationSender {
  return {
    accountId,
    user: user && { name: user.name, id: user.id },
    permissions,
    keyPolicy,
    policies: user === undefined ? policies : isOfIssuer(user) ? policies?.map(({ name }) => ({ name })) : undefined,
    session: session && sessionOf(session),
    conditions: Object.fromEntries(noted),
  }
}

function sessionOf({ kind, policy, issuedMs, expiresMs, claims }: PrincipalSession): ReplicationSender['session'] {
  return { kind, policy, issuedMs, expiresMs, claims: claims && Object.fromEntries(claims) }
}

/** See `webUser`. */
const isOfIssuer = ({ id }: { id: string }): boolean => id.startsWith('oidc:')

/** The accounts, users and policies that there are. */
export interface KnownSenders {
  hasAccount(accountId: string): boolean
  /** Enabled ones, by identity id. */
  users: ReadonlyMap<string, Principal>
  policy(accountId: string, name: string): string | undefined
}

/** The sender with the rights of now. `undefined`: the account or the user is gone or disabled. */
export function principalNow(sender: ReplicationSender, known: KnownSenders): Principal | undefined {
  const { accountId, user, permissions, keyPolicy, session, policies = [] } = sender
  if (accountId === '') return nobody
  if (!known.hasAccount(accountId)) return undefined
  const narrowed = { permissions, keyPolicy, session: session && sessionNow(session) }
  const own = { accountId, displayName: '', accessKeyId: '', ...narrowed }
  if (user === undefined)
    return { ...own, policies: sender.policies?.map(({ name, document = '' }) => ({ name, document })) }
  if (isOfIssuer(user)) {
    const found = policies.map(({ name }) => ({ name, document: known.policy(accountId, name) }))
    return {
      ...own,
      user,
      policies: found.flatMap(({ name, document }) => (document === undefined ? [] : { name, document })),
    }
  }
  const now = known.users.get(user.id)
  return now && now.accountId === accountId ? { ...now, ...narrowed } : undefined
}

function sessionNow({ claims, ...session }: NonNullable<ReplicationSender['session']>): PrincipalSession {
  return { ...session, claims: claims && new Map(Object.entries(claims)) }
}

/** A version that is to be copied. */
export interface AskedCopy {
  /** The bucket that holds it. */
  bucket: BucketRecord
  key: string
  record: VersionRecord
  arn: string
  /** The destination. Absent: it is at a site, or not there. */
  to: BucketRecord | undefined
}

/** The bucket of this server that an ARN names. `undefined`: it is at a site. */
export function ownDestinationOf(arn: string): string | undefined {
  const named = destinationOf(arn)
  return named?.site === undefined ? named?.bucket : undefined
}

/** Throws AccessDenied if the sender may not read the version, or not write its copy. */
export function authorizeCopy(
  principal: Principal,
  { conditions }: Pick<ReplicationSender, 'conditions'>,
  nowMs: number,
  copy: AskedCopy,
): void {
  const { bucket, key, record, arn, to } = copy
  const isMarker = record.kind === 'marker'
  const own = valuesOfOwnRequest(nowMs)
  const asker = { principal, conditionValue: (name: string) => own.get(name) ?? conditions[name] }
  const source = { ...asker, existing: () => (isMarker ? ('none' as const) : record.attributes) }
  authorize(source, { permission: 's3:GetObjectVersionForReplication', name: bucket.name, bucket, key })
  const { site, bucket: name } = destinationOf(arn) ?? { bucket: '' }
  // See `checkRights` about sites.
  const copied =
    site === undefined ? { name, bucket: to, key } : { name: site, bucket: undefined, key: `${name}/${key}` }
  const target = { ...asker, existing: () => 'none' as const }
  const permissions = isMarker ? ['s3:ReplicateDelete'] : ['s3:ReplicateObject', 's3:ReplicateTags']
  for (const permission of permissions) authorize(target, { permission, ...copied })
}
