/** The rights of replication, over the identities of the process that copies. */
import type { Backend } from '../commits/backend.ts'
import { S3Error } from '../errors.ts'
import type { ServedIdentities } from '../identities/identities.ts'
import { readBucket } from '../jobs/blob-reference.ts'
import type { CopyRights, VersionToCopy } from '../jobs/replication/copy-rights.ts'
import { CopyRefused, DestinationAway } from '../jobs/replication/replica-bucket.ts'
import type { BucketRecord } from '../records/bucket-record.ts'
import type { ReplicationSender } from '../records/replication.ts'

type Identities = Pick<ServedIdentities, 'credentials'>

/** Most servers copy nothing, and the first process of several would load it for nothing else. */
const loadDecision = () => import('../operations/buckets/replication-sender.ts')

/** Jobs start before the identities are read. */
export class LateCopyRights implements CopyRights {
  #identities: Identities | undefined

  get areKnown(): boolean {
    return this.#identities !== undefined
  }

  /** Call once, when the identities have been opened. */
  learn(identities: Identities): void {
    this.#identities = identities
  }

  async check({ kv, clock }: Pick<Backend, 'kv' | 'clock'>, version: VersionToCopy): Promise<void> {
    const identities = this.#identities
    if (identities === undefined) throw new DestinationAway('the access keys are not known yet')
    const { bucket, arn } = version
    const sender = senderOf(bucket)
    const principal = await principalOf(sender, identities).catch((error: unknown) => {
      throw error instanceof S3Error ? new DestinationAway(error.message) : error
    })
    if (principal === undefined) throw new DestinationAway(goneSender)
    const { authorizeCopy, ownDestinationOf } = await loadDecision()
    const name = ownDestinationOf(arn)
    const to = name === undefined ? undefined : (await readBucket(kv, name))?.record
    try {
      authorizeCopy(principal, sender, clock.now(), { ...version, to })
    } catch (error) {
      if (!(error instanceof S3Error)) throw error
      throw new CopyRefused(`who set the rules may not copy it: ${error.message}`, 'if others are taken')
    }
  }
}

const goneSender = 'who set the rules is gone or disabled. Set them again'

/** Why nothing is copied from the bucket, whatever it is. `undefined`: it may be. */
export async function senderFault(bucket: BucketRecord, identities: Identities): Promise<string | undefined> {
  return (await principalOf(senderOf(bucket), identities)) === undefined ? goneSender : undefined
}

/** Earlier versions did not keep who set the rules. */
const senderOf = ({ replication, owner }: BucketRecord): ReplicationSender =>
  replication?.setBy ?? { accountId: owner, conditions: {} }

async function principalOf(sender: ReplicationSender, { credentials }: Identities) {
  await credentials.renewal()
  const { principalNow } = await loadDecision()
  const { users, policy } = credentials.identities
  return principalNow(sender, { hasAccount: credentials.hasAccount, users, policy })
}
