/**
 * Looks a second time before a client is told that something does not exist: reads the neighbours of its place. One flipped bit in a key sends a point
 * read past its entry; the entry then lies next to that place, under a key that contradicts its checksum. A check of all metadata finds the damage that this
 * cannot see (ADR 0023).
 */
import { S3Error } from '../errors.ts'
import { type Entry, isClean, type Key } from '../kv/kv.ts'
import { isWholeRecord } from '../records/whole-records.ts'
import type { Backend } from './backend.ts'

const firstKey = Buffer.alloc(0)
/** No metadata key starts with it. */
const lastKey = Buffer.from([0xff])
/** The table of the server's own records, which are sealed in a format of their own. */
const systemTable = 's'.charCodeAt(0)

/** A look can fail because other requests keep writing and deleting the key. Damage fails every look. */
const looksMax = 3

/** Throws ServiceUnavailable when the neighbours of `key` show that it may exist after all. */
export async function requireAbsent(backend: Pick<Backend, 'kv'>, key: Key): Promise<void> {
  for (let looks = 0; looks < looksMax; looks++) if (await looksAbsent(backend, key)) return
  await reportDamage(backend)
  throw new S3Error('ServiceUnavailable', {
    message: 'The metadata is damaged where this would be found. Run holdfast scrub.',
  })
}

async function looksAbsent({ kv }: Pick<Backend, 'kv'>, key: Key): Promise<boolean> {
  const {
    found: [[before] = [], [after] = []],
  } = await kv.view(
    [],
    [
      { start: firstKey, end: key, limit: 1, reverse: true },
      { start: key, end: lastKey, limit: 1 },
    ],
    ({ key: found, value, version }): Entry => ({ key: Buffer.from(found), value: Buffer.from(value), version }),
  )
  const agree =
    (before === undefined || (Buffer.compare(before.key, key) < 0 && isWhole(before))) &&
    (after === undefined || (Buffer.compare(after.key, key) >= 0 && isWhole(after)))
  // The key may have been written since the point read. If another point read finds nothing, the entry is hidden, or deleted again.
  return agree && (after?.key.equals(key) !== true || (await kv.get([key]))[0] !== undefined)
}

/**
 * Starts a check of all metadata, which reports the damage and its extent to the operator. Skips it when the last check found damage, because clients can ask
 * for damaged records any number of times.
 */
async function reportDamage({ kv: { integrity } }: Pick<Backend, 'kv'>): Promise<void> {
  const last = await integrity.lastCheck()
  if (last === undefined || isClean(last)) integrity.check().catch(() => {})
}

function isWhole({ key, value }: Entry): boolean {
  return key[0] === systemTable || isWholeRecord(key, value)
}
