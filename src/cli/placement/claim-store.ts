/** `holdfast locations claim`: lets an operator assign a store to this metadata, no matter which metadata used it last. */

import { ownLocation } from '../../blobs/location-policy.ts'
import { ConfigurationError } from '../../config/configuration-error.ts'
import type { StoreSettings } from '../../config/locations.ts'
import { failureText } from '../../file-failure.ts'
import { knownDefaultStore } from '../../instance/default-store.ts'
import { PlacementRefused, readKnownPlacement } from '../../instance/known-placement.ts'
import { recordStart } from '../../instance/metadata-id.ts'
import type { OpenMetadata } from '../../opening/open-backend.ts'
import { storeOpener } from '../../opening/placement/open-stores.ts'
import { audited } from '../audited-command.ts'
import type { Invocation } from '../command.ts'
import { withMetadata } from '../stopped-data.ts'

export async function claimStore(invocation: Invocation, name: string): Promise<number> {
  const { json, print } = invocation
  const entry = { operation: 'ClaimStore', target: { store: name } }
  await audited(invocation, entry, () => withMetadata(invocation, (metadata) => claim(invocation, metadata, name)))
  if (json) print(JSON.stringify({ event: 'claimed', store: name }))
  else print(`store ${name} belongs to this data directory from now on`)
  return 0
}

async function claim(invocation: Invocation, metadata: OpenMetadata, name: string): Promise<void> {
  const { settings, knows } = await knownStore(invocation, metadata, name)
  const claimant = await recordStart(metadata.kv, metadata.clock, metadata.directory.path)
  const ownership = { claimant: async () => claimant, takes: 'any' as const }
  const fatal: Error[] = []
  const open = storeOpener(settings, { clock: metadata.clock, warn: invocation.notice, ownership })
  const opening = open({ first: false, knows, onFatal: (error) => fatal.push(error) })
  const store = await opening.catch((error: unknown) => {
    throw new PlacementRefused(`stores.${name}: ${failureText(error)}`)
  })
  await store.close()
  if (fatal[0] !== undefined) throw fatal[0]
}

async function knownStore(
  { configuration }: Invocation,
  { kv, defaultStore }: OpenMetadata,
  name: string,
): Promise<{ settings: StoreSettings; knows: string }> {
  const isDefault = name === ownLocation && defaultStore !== undefined
  const settings: StoreSettings | undefined = isDefault
    ? { name, domain: name, type: 'directory', path: defaultStore }
    : configuration.placement.stores.find((store) => store.name === name)
  if (settings === undefined) throw new ConfigurationError(`there is no [stores.${name}] in the configuration`)
  const knows = isDefault ? await knownDefaultStore(kv) : (await readKnownPlacement(kv)).known.stores[name]?.storeId
  if (knows === undefined)
    throw new ConfigurationError(`the data directory does not know store ${name} yet: start the server`)
  return { settings, knows }
}
