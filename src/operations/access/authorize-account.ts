/** Checks permissions that concern an account rather than one of its buckets. The admin port uses it. */
import { decide } from '../../access/decide.ts'
import { noPublicAccessBlock } from '../../access/grants.ts'
import { reasonText } from '../../access/reason-text.ts'
import { type Asker, accessDenied, accessPrincipal } from './authorize.ts'
import { policiesOf } from './principal-policies.ts'

/** `owner`: the account's id. Its keys have the rights that a bucket owner's keys have over a bucket. Throws AccessDenied. */
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
  if (!allowed) throw accessDenied(principal, { permission, name: '', key: '' }, reasonText(because))
}
