/** The public access blocks of accounts, over the identities of a process. */
import { S3Error } from '../errors.ts'
import type { ServedIdentities } from '../identities/identities.ts'
import { IdentityRefused } from '../identities/refusal.ts'
import type { AccountBlocks } from '../operations/access/account-blocks.ts'

const everything = {
  blockPublicAcls: true,
  ignorePublicAcls: true,
  blockPublicPolicy: true,
  restrictPublicBuckets: true,
}

/** `blockPublic`: accounts without a setting of their own block everything. */
export function openAccountBlocks(
  { publicAccessBlock, verbs }: Pick<ServedIdentities, 'publicAccessBlock' | 'verbs'>,
  { blockPublic }: { blockPublic: boolean },
): AccountBlocks {
  const initial = blockPublic ? everything : undefined
  return {
    of: (accountId) => publicAccessBlock(accountId) ?? initial,
    set: async (accountId, block) => {
      try {
        await verbs.accounts.setPublicAccessBlock(accountId, block)
      } catch (error) {
        // The account was removed meanwhile.
        throw error instanceof IdentityRefused ? new S3Error('AccessDenied', { cause: error }) : error
      }
    },
  }
}
