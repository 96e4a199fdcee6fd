/** All proofs, family by family. A new operation adds its own here. */

import { accessProofs } from './access.ts'
import { accessListProofs } from './access-lists.ts'
import { accountProofs } from './accounts.ts'
import { attributeProofs } from './attributes.ts'
import { bucketProofs } from './buckets.ts'
import { copyProofs } from './copies.ts'
import { corsProofs } from './cors.ts'
import { digestProofs } from './digests.ts'
import { encryptionProofs } from './encryption.ts'
import { everywhereProofs } from './everywhere.ts'
import { formProofs } from './forms.ts'
import { listingProofs } from './listings.ts'
import type { Proof } from './proof.ts'
import { readProofs } from './reads.ts'
import { unconfiguredProofs } from './unconfigured.ts'
import { uploadProofs } from './uploads.ts'
import { versionProofs } from './versions.ts'
import { websiteProofs } from './websites.ts'
import { writeProofs } from './writes.ts'

export const proofs: readonly Proof[] = [
  ...everywhereProofs,
  ...digestProofs,
  ...bucketProofs,
  ...accessProofs,
  ...accessListProofs,
  ...corsProofs,
  ...websiteProofs,
  ...accountProofs,
  ...writeProofs,
  ...formProofs,
  ...readProofs,
  ...copyProofs,
  ...versionProofs,
  ...uploadProofs,
  ...listingProofs,
  ...attributeProofs,
  ...encryptionProofs,
  ...unconfiguredProofs,
]
