/**
 * Asks a second time before a client is told that something is not there: by a walk over the neighbours of its place. One flipped bit in a key sends a point
 * read past its entry, and the entry then stands beside that place under a name that its checksum contradicts. What this cannot see, a check of all
 * metadata does (ADR 0023).
 */
import { S3Error } from '../errors.ts'
import { type Entry, isClean, type Key } from '../kv/kv.ts'
import { limits } from '../limits.ts'
import { isWholeRecord } from '../records/whole-records.ts'
import type { Backend } from './backend.ts'

const firstKey = Buffer.alloc(0)
/** No key of ours starts with it. */
const lastKey = Buffer.from([0xff])
/** Records of the server itself are sealed in another way. */
const systemTable = 's'.charCodeAt(0)

/** Of a key that others write and delete again and again. Damage stays. */
const looksMax = 3

/** Throws ServiceUnavailable when the neighbours of `key` contradict that it is not there. */
export async function requireAbsent(backend: Pick<Backend, 'kv'>, key: Key): Promise<void> {
  for (let looks = 0; looks < looksMax; looks++) if (await looksAbsent(backend, key)) return
  await reportDamage(backend)
  throw new S3Error('ServiceUnavailable', {
    message: 'The metadata is damaged where this would be found. Run holdfast scrub.',
    headers: { 'Retry-After': String(limits.retryAfterSeconds) },
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
  // It may have been written since the point read. If the next one finds nothing either, it is hidden, or gone again.
  return agree && (after?.key.equals(key) !== true || (await kv.get([key]))[0] !== undefined)
}

/** What is wrong, and how much of it, a check finds out, which tells the operator. Once: clients may ask for what is damaged as often as they like. */
async function reportDamage({ kv: { integrity } }: Pick<Backend, 'kv'>): Promise<void> {
  const last = await integrity.lastCheck()
  if (last === undefined || isClean(last)) integrity.check().catch(() => {})
}

function isWhole({ key, value }: Entry): boolean {
  return key[0] === systemTable || isWholeRecord(key, value)
}
