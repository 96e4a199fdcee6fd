/** The settings of a bucket, one panel each. Each panel loads and saves on its own, so that a refused one does not hide the others. */

import { Cors } from './settings/cors.tsx'
import { Encryption } from './settings/encryption.tsx'
import { Lock } from './settings/lock.tsx'
import { Placement } from './settings/placement.tsx'
import { BucketPolicy } from './settings/policy.tsx'
import { PublicAccess } from './settings/public-access.tsx'
import { Tags } from './settings/tags.tsx'
import { Versioning } from './settings/versioning.tsx'
import { Website } from './settings/website.tsx'

export function Settings({ bucket }: { bucket: string }) {
  return (
    <div class="panels">
      <Versioning bucket={bucket} />
      <Lock bucket={bucket} />
      <Encryption bucket={bucket} />
      <PublicAccess bucket={bucket} />
      <BucketPolicy bucket={bucket} />
      <Cors bucket={bucket} />
      <Website bucket={bucket} />
      <Tags bucket={bucket} />
      <Placement bucket={bucket} />
    </div>
  )
}
