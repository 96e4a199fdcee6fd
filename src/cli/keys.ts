/** `holdfast keys`: shows the key ring of a stopped server's data directory, or replaces the newest key of a name and wraps objects' keys with it. */
import { systemClock } from '../clock.ts'
import { ConfigurationError } from '../config/configuration-error.ts'
import { isKeyName, type KeyRing, onlyNewest, withNewKey } from '../encryption/key-ring.ts'
import { keepKeyRing } from '../instance/key-ring-file.ts'
import { type RewrapReport, rewrapKeys } from '../jobs/rewrap.ts'
import type { OpenDataStore } from '../open.ts'
import type { Invocation } from './command.ts'
import { withStoppedData } from './stopped-data.ts'

interface Result {
  ring: KeyRing
  report?: RewrapReport
}

export async function keys(invocation: Invocation): Promise<number> {
  const { configuration, extra, json, print } = invocation
  const { ring, report } = await withStoppedData(invocation, (data) => {
    if (typeof extra.rotate === 'string') return rotate(data, extra.rotate, configuration.keyRing === undefined)
    if (extra.retire === true) return retire(data, configuration.keyRing === undefined)
    return extra.rewrap === true ? rewrap(data) : Promise.resolve<Result>({ ring: data.store.keys })
  })
  const shown = ring.keys.map(({ name, id }, i) => ({
    name,
    id,
    newest: ring.keys.findIndex((key) => key.name === name) === i,
  }))
  if (json) print(JSON.stringify({ event: 'keys', keys: shown, ...report }))
  else {
    for (const { name, id, newest } of shown) print(`${name}  ${id}${newest ? '' : '  decrypts only'}`)
    if (report !== undefined) print(`${report.rewrapped} of ${report.encrypted} objects' keys wrapped anew`)
  }
  return 0
}

/** The new key is kept before anything is wrapped with it. */
async function rotate({ store, directory }: OpenDataStore, name: string, hasFile: boolean): Promise<Result> {
  if (!hasFile) {
    throw new ConfigurationError(
      'the key ring is in HOLDFAST_KEY_RING: put a new key before the others there, then run holdfast keys --rewrap',
    )
  }
  if (!isKeyName(name) || store.keys.newest(name) === undefined) {
    throw new ConfigurationError(`--rotate: the key ring has no key named '${name}'`)
  }
  const ring = withNewKey(store.keys, name, (bytes) => Buffer.from(systemClock.random(bytes)))
  await keepKeyRing(store.kv, directory.keyRing, ring)
  return { ring, report: await rewrapKeys({ ...store, keys: ring }) }
}

/** Once the newest keys wrap everything, nothing needs the older ones. */
async function retire(data: OpenDataStore, hasFile: boolean): Promise<Result> {
  const { report } = await rewrap(data)
  const ring = onlyNewest(data.store.keys)
  await keepKeyRing(data.store.kv, hasFile ? data.directory.keyRing : undefined, ring)
  return { ring, report }
}

async function rewrap({ store }: OpenDataStore): Promise<Result> {
  return { ring: store.keys, report: await rewrapKeys(store) }
}
