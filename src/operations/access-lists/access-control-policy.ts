/** The AccessControlPolicy document: its shape, its validation, and how a list is shown as one. */
import type { InputBody } from '../../contract/fields.ts'
import { aclInHeaders, checksumsIn, ownership } from '../../contract/groups.ts'
import { attribute, type Infer, list, optional, string, struct } from '../../contract/shapes.ts'
import { type ErrorCode, S3Error } from '../../errors.ts'
import { limits } from '../../limits.ts'
import type { Grant, GrantPermission } from '../../records/grant.ts'
import { ownersGrants } from '../../rules/access-list.ts'
import type { OperationContext } from '../context.ts'
import { groupUris, type NamedGrant } from './grantee-names.ts'

const xsi = 'http://www.w3.org/2001/XMLSchema-instance'

// Every element is optional, so that an incomplete policy is MalformedACLError rather than MalformedXML.
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

export type Policy = Infer<typeof policyShape>
type GrantElement = NonNullable<Policy['AccessControlList']>['Grant'][number]

/** `grants`: absent when the list has only the owner. */
export function policyOf(
  { ownerOf }: Pick<OperationContext, 'ownerOf'>,
  owner: string,
  grants: readonly Grant[] = ownersGrants(owner),
): Policy {
  const Grant = grants.map(({ grantee, permission }) => ({
    Grantee:
      grantee.kind === 'account'
        ? { 'xsi:type': 'CanonicalUser', ...ownerOf({ owner: grantee.accountId }) }
        : { 'xsi:type': 'Group', URI: groupUris[grantee.kind] },
    Permission: permission,
  }))
  return { Owner: ownerOf({ owner }), AccessControlList: { Grant } }
}

export const policyInputs = { ...aclInHeaders, ...checksumsIn, ...ownership } as const

export const policyBody = {
  kind: 'xml',
  root: 'AccessControlPolicy',
  shape: policyShape,
  // A request can send headers instead.
  required: false,
  digestRequired: false,
  bytesMax: limits.xmlBodyBytesMax,
} as const satisfies InputBody

export const policyErrors: readonly ErrorCode[] = [
  'AccessControlListNotSupported',
  'AccessDenied',
  'InvalidArgument',
  'InvalidRequest',
  'MalformedACLError',
  'MalformedXML',
  'MissingSecurityHeader',
  'NotImplemented',
  'UnexpectedContent',
  'BadDigest',
  'InvalidDigest',
]

const permissions = ['FULL_CONTROL', 'READ', 'WRITE', 'READ_ACP', 'WRITE_ACP'] as const satisfies GrantPermission[]
const namedBy = { CanonicalUser: 'ID', Group: 'URI', AmazonCustomerByEmail: 'EmailAddress' } as const
const kinds = { CanonicalUser: 'id', Group: 'uri', AmazonCustomerByEmail: 'emailAddress' } as const
type GranteeType = keyof typeof namedBy

export interface PolicyAsked {
  /** Account id. */
  owner: string
  grants: readonly NamedGrant[]
}

/** The owner and grants that a document asks for. Display names are ignored, as in S3. Throws MalformedACLError. */
export function askedByPolicy({ Owner, AccessControlList }: Policy): PolicyAsked {
  if (Owner?.ID === undefined || AccessControlList === undefined) throw malformed()
  if (AccessControlList.Grant.length > limits.aclGrantsMax) throw malformed()
  return { owner: Owner.ID, grants: AccessControlList.Grant.map(namedGrant) }
}

const malformed = (): S3Error => new S3Error('MalformedACLError')

/** Throws MalformedACLError for an unknown permission, and unless the grantee has exactly the one name that its type requires. */
function namedGrant({ Grantee, Permission }: GrantElement): NamedGrant {
  const permission = permissions.find((each) => each === Permission)
  if (Grantee === undefined || permission === undefined) throw malformed()
  const type = Grantee['xsi:type']
  if (!isGranteeType(type)) throw malformed()
  const name = Grantee[namedBy[type]]
  const names = Object.values(namedBy).filter((each) => Grantee[each] !== undefined)
  if (name === undefined || names.length > 1) throw malformed()
  return { permission, grantee: { by: kinds[type], name } }
}

function isGranteeType(type: string): type is GranteeType {
  return Object.hasOwn(namedBy, type)
}
