/** All proofs, family by family. A new operation adds its own here. */

import { accessProofs } from './access.ts'
import { accessListProofs } from './access-lists.ts'
import { digestProofs } from './digests.ts'
import { encryptionProofs } from './encryption.ts'
import { everywhereProofs } from './everywhere.ts'
import { formProofs } from './forms.ts'
import type { Proof } from './proof.ts'
import { unconfiguredProofs } from './unconfigured.ts'
import { websiteProofs } from './websites.ts'
import { writeProofs } from './writes.ts'

export const proofs: readonly Proof[] = [
  ...everywhereProofs,
  ...digestProofs,
  ...accessProofs,
  ...accessListProofs,
  ...websiteProofs,
  ...writeProofs,
  ...formProofs,
  ...encryptionProofs,
  ...unconfiguredProofs,
]
