/** The names that requests give to grantees, and which of them exist here. */
import type { NamedGrantee } from '../../contract/groups.ts'
import { invalidArgument, notImplemented } from '../../errors.ts'
import type { Grant, Grantee, GrantPermission } from '../../records/grant.ts'
import type { OperationContext } from '../context.ts'

export interface NamedGrant {
  permission: GrantPermission
  grantee: NamedGrantee
}

export const groupUris = {
  everyone: 'http://acs.amazonaws.com/groups/global/AllUsers',
  authenticated: 'http://acs.amazonaws.com/groups/global/AuthenticatedUsers',
} as const

/** S3 writes access logs as this group. Here they need no grant. */
const logDeliveryUri = 'http://acs.amazonaws.com/groups/s3/LogDelivery'

export type Accounts = Pick<OperationContext, 'isAccount'>

/** Throws InvalidArgument for an unknown grantee, and NotImplemented for one that only S3 supports. */
export function grantOf({ permission, grantee }: NamedGrant, accounts: Accounts): Grant {
  return { grantee: granteeOf(grantee, accounts), permission }
}

function granteeOf({ by, name }: NamedGrantee, { isAccount }: Accounts): Grantee {
  switch (by) {
    case 'id':
      if (isAccount(name)) return { kind: 'account', accountId: name }
      throw invalidArgument('CanonicalUser/ID', name, 'Invalid id')
    case 'uri':
      if (name === groupUris.everyone) return { kind: 'everyone' }
      if (name === groupUris.authenticated) return { kind: 'authenticated' }
      if (name === logDeliveryUri) throw notImplemented('Grantee/URI=LogDelivery')
      throw invalidArgument('Group/URI', name, 'Invalid group uri')
    case 'emailAddress':
      throw notImplemented('Grantee/EmailAddress')
  }
}
