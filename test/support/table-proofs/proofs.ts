/** All proofs, family by family. What one operation alone has is proven by its rows (`test/wire`). */

import { accessListProofs } from './access-lists.ts'
import { digestProofs } from './digests.ts'
import { encryptionProofs } from './encryption.ts'
import { everywhereProofs } from './everywhere.ts'
import type { Proof } from './proof.ts'
import { writeProofs } from './writes.ts'

export const proofs: readonly Proof[] = [
  ...everywhereProofs,
  ...digestProofs,
  ...accessListProofs,
  ...writeProofs,
  ...encryptionProofs,
]
