/** The settings of a bucket, one panel each. Each panel loads and saves on its own, so that a refused one does not hide the others. */

import type { FunctionComponent } from 'preact'
import { MayChange, useRights } from '../../model/rights.ts'
import { Cors } from './settings/cors.tsx'
import { Encryption } from './settings/encryption.tsx'
import { Lifecycle } from './settings/lifecycle.tsx'
import { Lock } from './settings/lock.tsx'
import { Notifications } from './settings/notifications.tsx'
import { Placement } from './settings/placement.tsx'
import { BucketPolicy } from './settings/policy.tsx'
import { PublicAccess } from './settings/public-access.tsx'
import { Quota } from './settings/quota.tsx'
import { Replication } from './settings/replication.tsx'
import { Tags } from './settings/tags.tsx'
import { Versioning } from './settings/versioning.tsx'
import { Website } from './settings/website.tsx'

const panels: readonly (readonly [FunctionComponent<{ bucket: string }>, action: string])[] = [
  [Versioning, 's3:PutBucketVersioning'],
  [Lock, 's3:PutBucketObjectLockConfiguration'],
  [Encryption, 's3:PutEncryptionConfiguration'],
  [PublicAccess, 's3:PutBucketPublicAccessBlock'],
  [BucketPolicy, 's3:PutBucketPolicy'],
  [Lifecycle, 's3:PutLifecycleConfiguration'],
  [Notifications, 's3:PutBucketNotification'],
  [Replication, 's3:PutReplicationConfiguration'],
  [Cors, 's3:PutBucketCORS'],
  [Website, 's3:PutBucketWebsite'],
  [Tags, 's3:PutBucketTagging'],
]
const actions = panels.map(([, action]) => action)

export function Settings({ bucket }: { bucket: string }) {
  const may = useRights(bucket, actions)
  return (
    <div class="panels">
      {panels.map(([Panel, action]) => (
        <MayChange.Provider key={action} value={may(action)}>
          <Panel bucket={bucket} />
        </MayChange.Provider>
      ))}
      <Quota bucket={bucket} />
      <Placement bucket={bucket} />
    </div>
  )
}
