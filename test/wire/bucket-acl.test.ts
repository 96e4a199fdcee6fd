/** PutBucketAcl and GetBucketAcl over the wire. */
import { GetBucketAclCommand, PutBucketAclCommand } from '@aws-sdk/client-s3'
import { type AclTarget, ownedBy, ownersPolicy, publicPolicy, putAclRows, sdkPolicy } from '../support/wire-acl.ts'
import { listRows } from '../support/wire-acl-lists.ts'
import { wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { ownerRows } from '../support/wire-versions.ts'

const get = { method: 'GET', query: { acl: '' } } as const

const target: AclTarget = { call: (input) => sdk(PutBucketAclCommand, { Bucket: 'wire', ...input }) }

wireTests('PutBucketAcl', [
  ...putAclRows(target),
  ...listRows(target),
  ...ownerRows({ method: 'PUT', query: { acl: '' }, vendor: { acl: 'private' } }),
])

wireTests('GetBucketAcl', [
  {
    it: 'answers that the owner alone may do everything',
    status: 200,
    ask: get,
    headers: { 'Content-Type': 'application/xml' },
    vendor: {},
    xml: ownersPolicy,
    sdk: sdk(GetBucketAclCommand, { Bucket: 'wire' }, sdkPolicy),
  },
  {
    it: 'answers a group by its URI, and nobody by mail',
    proves: ['answer element:AccessControlPolicy/AccessControlList/Grant/Grantee/EmailAddress'],
    status: 200,
    given: async (wire) => {
      await ownedBy('ObjectWriter')(wire)
      await wire.must({ method: 'PUT', query: { acl: '' }, vendor: { acl: 'public-read' } })
    },
    ask: get,
    xml: publicPolicy,
  },
  ...ownerRows(get),
])
