/** Lets members that share the metadata find out whose configuration gives other accounts. The records hold fingerprints, which reveal nothing without the key ring. */
import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { type KeyRing, storeKeyName } from '../encryption/key-ring.ts'
import type { Kv } from '../kv/kv.ts'
import { type KeyRange, rangeOf, unpackKey } from '../kv/ordered-key.ts'
import { membersMax } from './placement-offers.ts'
import { type SystemRecord, systemRecord } from './sealed-record.ts'

const kind = 'member-accounts'
export const memberAccounts: KeyRange = rangeOf('s', kind)
const schema = z.object({
  /** For people, as in `PlacementOffer`. */
  host: z.string(),
  address: z.string(),
  /** The id of the key that the fingerprint was made with. Others can't be compared with it. */
  key: z.string(),
  print: z.string(),
})
type Announced = z.infer<typeof schema>
const recordOf = (member: string): SystemRecord<Announced> => systemRecord([kind, member], schema)

export interface AnnouncedAccount {
  id: string
  keys: readonly { accessKeyId: string; secretAccessKey: string; permissions?: readonly string[] | undefined }[]
}

interface Announcer {
  member: string
  host: string
  address: string
  living(): Promise<ReadonlySet<string>>
}

/** Resolves with the other living members whose accounts differ, as `host (address)`. */
export async function announceAccounts(
  kv: Kv,
  { member, host, address, living }: Announcer,
  accounts: readonly AnnouncedAccount[],
  ring: Pick<KeyRing, 'newest'>,
): Promise<string[]> {
  const own = recordOf(member)
  const value = { host, address, ...fingerprintOf(accounts, ring) }
  const found = await kv.range({ ...memberAccounts, limit: membersMax })
  const alive = await living()
  const others = found
    .map((entry) => ({ entry, id: unpackKey(entry.key, ['string', 'string', 'string'])[2] }))
    .filter(({ id }) => id !== member)
  await kv.commit({
    puts: [{ key: own.key, value: own.seal(value) }],
    deletes: others.filter(({ id }) => !alive.has(id)).map(({ entry }) => entry.key),
  })
  return (
    others
      .filter(({ id }) => alive.has(id))
      .map(({ id, entry }) => recordOf(id).open(entry.value))
      .filter((other) => other.key === value.key && other.print !== value.print)
      // A member at the same address has been replaced by this process. An address without a fixed port tells nothing.
      .filter((other) => other.host !== host || other.address !== address || address.endsWith(':0'))
      .map((other) => `${other.host} (${other.address})`)
  )
}

/** The warning for the operator. `others`: as `announceAccounts` returns them. */
export function differingAccounts(others: readonly string[]): string {
  return `the accounts of this configuration differ from those of ${others.join(', ')}: a client's key may work at one server and not at another. Give all servers the same accounts, or make them with holdfast accounts`
}

function fingerprintOf(accounts: readonly AnnouncedAccount[], ring: Pick<KeyRing, 'newest'>) {
  const wrapping = ring.newest(storeKeyName)
  if (wrapping === undefined) throw new Error(`the key ring has no key named ${storeKeyName}`)
  const keys = accounts.flatMap(({ id, keys }) =>
    keys.map(({ accessKeyId, secretAccessKey, permissions = ['*'] }) =>
      JSON.stringify([id, accessKeyId, secretAccessKey, [...permissions].sort()]),
    ),
  )
  const print = createHmac('sha256', wrapping.secret).update('holdfast accounts ').update(keys.sort().join('\n'))
  return { key: wrapping.id, print: print.digest('hex') }
}
