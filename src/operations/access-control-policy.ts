/** The access control policy that every bucket and object here has, as S3 has it where access control lists are disabled: its owner may do everything. */
import type { InputBody } from '../contract/fields.ts'
import { bucketAcl, cannedAcl, checksumsIn, ownership } from '../contract/groups.ts'
import { attribute, type Infer, list, optional, string, struct } from '../contract/shapes.ts'
import { type ErrorCode, S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import type { OwnerElement } from './context.ts'

const xsi = 'http://www.w3.org/2001/XMLSchema-instance'

// Read leniently, so that a well-formed document that is no policy can be told from what is no document.
export const policyShape = struct({
  Owner: optional(struct({ ID: optional(string), DisplayName: optional(string) })),
  AccessControlList: optional(
    struct({
      Grant: list(
        struct({
          Grantee: optional(
            struct({
              'xsi:type': attribute(string, xsi),
              ID: optional(string),
              DisplayName: optional(string),
              EmailAddress: optional(string),
              URI: optional(string),
            }),
          ),
          Permission: optional(string),
        }),
      ),
    }),
  ),
})

type Policy = Infer<typeof policyShape>
type Grant = NonNullable<Policy['AccessControlList']>['Grant'][number]

export function policyOf(owner: OwnerElement): Policy {
  return {
    Owner: owner,
    AccessControlList: { Grant: [{ Grantee: { 'xsi:type': 'CanonicalUser', ...owner }, Permission: 'FULL_CONTROL' }] },
  }
}

// The operation's own permission is all that setting a list takes.
export const policyInputs = { ...bucketAcl, acl: cannedAcl, ...checksumsIn, ...ownership } as const

export const policyBody = {
  kind: 'xml',
  root: 'AccessControlPolicy',
  shape: policyShape,
  // A canned list takes its place.
  required: false,
  digestRequired: false,
  bytesMax: limits.xmlBodyBytesMax,
} as const satisfies InputBody

export const policyErrors: readonly ErrorCode[] = [
  'AccessControlListNotSupported',
  'MalformedACLError',
  'MalformedXML',
  'MissingSecurityHeader',
  'UnexpectedContent',
  'BadDigest',
  'InvalidDigest',
]

/** Throws unless the request asks, by a canned list or by a policy, for what holds anyway. */
export function checkChangesNothing(acl: string | undefined, policy: Policy | undefined, owner: string): void {
  if (policy === undefined) {
    if (acl === undefined) throw new S3Error('MissingSecurityHeader', { details: { MissingHeaderName: 'acl' } })
    return
  }
  if (acl !== undefined) throw new S3Error('UnexpectedContent')
  checkWhole(policy)
  const grants = policy.AccessControlList?.Grant ?? []
  const isOwners = policy.Owner?.ID === owner && grants.length > 0
  if (isOwners && grants.every((grant) => grantsAllTo(grant, owner))) return
  throw new S3Error('AccessControlListNotSupported')
}

/** A display name only helps people to read a policy: S3 goes by the id. */
function grantsAllTo({ Grantee, Permission }: Grant, accountId: string): boolean {
  return Grantee?.['xsi:type'] === 'CanonicalUser' && Grantee.ID === accountId && Permission === 'FULL_CONTROL'
}

const permissions = ['FULL_CONTROL', 'READ', 'WRITE', 'READ_ACP', 'WRITE_ACP']
const namedBy = { CanonicalUser: 'ID', Group: 'URI', AmazonCustomerByEmail: 'EmailAddress' } as const
type GranteeType = keyof typeof namedBy

/** Throws MalformedACLError. */
function checkWhole({ Owner, AccessControlList }: Policy): void {
  if (Owner?.ID === undefined || !AccessControlList?.Grant.every(isGrant)) throw new S3Error('MalformedACLError')
}

/** The permission is one, and the grantee is named as its type wants it, and not otherwise. */
function isGrant({ Grantee, Permission = '' }: Grant): boolean {
  if (Grantee === undefined || !permissions.includes(Permission)) return false
  const type = Grantee['xsi:type']
  if (!isGranteeType(type)) return false
  return Object.values(namedBy).every((name) => (Grantee[name] !== undefined) === (name === namedBy[type]))
}

function isGranteeType(type: string): type is GranteeType {
  return Object.hasOwn(namedBy, type)
}
