/** Whether somebody may do what is about an account and none of its buckets, as the admin port asks it: put before the one decision of `access/decide`. */
import { decide } from '../access/decide.ts'
import { noPublicAccessBlock } from '../access/grants.ts'
import { reasonText } from '../access/reason-text.ts'
import { type Asker, accessDenied, accessPrincipal } from './authorize.ts'
import { policiesOf } from './principal-policies.ts'

/** `owner`: id of the account, which is to it what the owner of a bucket is. Throws AccessDenied. */
export function authorizeForAccount({ principal, conditionValue }: Asker, permission: string, owner: string): void {
  const { allowed, because } = decide({
    ...policiesOf(principal),
    bucket: { owner, ownership: 'BucketOwnerEnforced', publicAccessBlock: noPublicAccessBlock },
    request: {
      principal: accessPrincipal(principal),
      action: permission,
      resource: 'arn:aws:s3:::*',
      value: (name) => conditionValue(name),
    },
  })
  if (!allowed) throw accessDenied(permission, reasonText(because))
}
