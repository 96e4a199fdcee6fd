/** `holdfast orphans`: lists quarantined data that no metadata references. */

import type { FoundOrphan } from '../commits/orphans.ts'
import { quarantined } from '../jobs/orphans/release-orphans.ts'
import { readDescription } from '../records/description-bytes.ts'
import type { Invocation } from './command.ts'
import { counted } from './counted.ts'
import { withMetadata } from './stopped-data.ts'

export async function orphans(invocation: Invocation): Promise<number> {
  const { json, print } = invocation
  return withMetadata(invocation, async ({ kv }) => {
    let count = 0
    for await (const orphan of quarantined({ kv })) {
      count++
      const found = orphanFields(orphan)
      if (json) print(JSON.stringify({ event: 'orphan', ...found }))
      else
        print(
          `${new Date(found.sinceMs).toISOString()} ${found.storeId}/${found.id} ${counted(found.bytes, 'byte')}: ${found.of}`,
        )
    }
    if (json) print(JSON.stringify({ event: 'orphans', count }))
    else print(`${counted(count, 'orphan')} in quarantine`)
    return 0
  })
}

function orphanFields({ storeId, id, payloadBytes, sinceMs, description }: FoundOrphan) {
  return { storeId, id, bytes: payloadBytes, sinceMs, of: nameOf(Buffer.from(description, 'base64')) }
}

/** The name of the shard's owner, as the shard's description states it. */
function nameOf(bytes: Buffer): string {
  const description = readDescription(bytes)
  if (description === undefined) return 'unknown'
  if (description.kind === 'snapshot')
    return `piece ${description.piece} of metadata snapshot ${description.snapshotId}`
  const part = description.kind === 'part' ? `part ${description.partNumber} of ` : ''
  return `${part}${description.bucket}/${description.key}`
}
