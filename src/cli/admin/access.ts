/** `holdfast access`: explains decisions, and lets an operator vouch for recovered buckets. Works whether a server runs or not. */
import { granteeText } from '../../access/decide.ts'
import { ConfigurationError } from '../../config/configuration-error.ts'
import { everyBucket } from '../../jobs/blob-reference.ts'
import { confirmGuards } from '../../objects/buckets.ts'
import type { BucketRecord } from '../../records/bucket-record.ts'
import { ownershipOf } from '../../rules/access-list.ts'
import { audited } from '../audited-command.ts'
import type { Invocation } from '../command.ts'
import { withMetadata } from '../stopped-data.ts'
import { explain } from './explain-access.ts'

export async function access(invocation: Invocation): Promise<number> {
  const [word = 'status', ...rest] = invocation.words
  const [first] = rest
  if (word === 'status' && rest.length === 0) return status(invocation)
  if (word === 'confirm' && first !== undefined && rest.length === 1) return confirm(invocation, first)
  if (word === 'explain') return explain(invocation, rest)
  throw new ConfigurationError(
    'expects `access status`, `access confirm BUCKET` or `access explain KEY ACTION RESOURCE`',
  )
}

async function status(invocation: Invocation): Promise<number> {
  const { json, print } = invocation
  const unconfirmed = await withMetadata(invocation, async ({ kv }) => {
    const names: string[] = []
    for await (const bucket of everyBucket(kv)) if (bucket.unconfirmed === true) names.push(bucket.name)
    return names
  })
  if (json) print(JSON.stringify({ event: 'access', unconfirmed }))
  else if (unconfirmed.length === 0) print('every bucket is confirmed')
  else for (const name of unconfirmed) print(`${name} admits only its owner's own key until it is confirmed`)
  return 0
}

async function confirm(invocation: Invocation, name: string): Promise<number> {
  const { json, print } = invocation
  const entry = { operation: 'ConfirmAccess', target: { bucket: name } }
  const bucket = await audited(invocation, entry, () =>
    withMetadata(invocation, (metadata) => confirmGuards(metadata, name)),
  )
  const wasUnconfirmed = bucket.unconfirmed === true
  const guards = guardsOf(bucket)
  if (json) print(JSON.stringify({ event: 'confirmed', bucket: name, wasUnconfirmed, ...guards }))
  else {
    print(
      wasUnconfirmed ? `${name} is confirmed. Its settings are:` : `${name} needed no confirmation. Its settings are:`,
    )
    print(`owner                ${guards.owner}`)
    // On one line, as every other setting, however its author broke it into lines.
    print(`policy               ${guards.policy === null ? 'none' : JSON.stringify(JSON.parse(guards.policy))}`)
    print(`public access block  ${guards.publicAccessBlock.join(', ') || 'none'}`)
    print(`object ownership     ${guards.ownership}`)
    print(`grants               ${guards.grants.join(', ') || 'none'}`)
  }
  return 0
}

/** The settings that decide who may use a bucket. */
function guardsOf({ owner, policy, publicAccessBlock, ownership, grants = [] }: BucketRecord) {
  const blocks = Object.entries(publicAccessBlock ?? {}).flatMap(([name, isOn]) => (isOn ? [name] : []))
  return {
    owner,
    policy: policy ?? null,
    publicAccessBlock: blocks,
    ownership: ownershipOf({ ownership }),
    grants: grants.map((grant) => `${grant.permission} to ${granteeText(grant)}`),
  }
}
