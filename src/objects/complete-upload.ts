/** Completes a multipart upload: writes a small note of its parts, for recovery, then commits once. The parts stay where they are, and the record refers to them. */
import { digestsReady } from '../checksums/checksums.ts'
import type { Backend } from '../commits/backend.ts'
import { commitDecision, type Decision, garbagePut, inTurnOfKey } from '../commits/commit.ts'
import { checkRepeatedEncryption, type EncryptionRequest, uploadKeyOf } from '../commits/encryption.ts'
import { findCopy } from '../commits/existing-copy.ts'
import { type KeyHistory, readHistory } from '../commits/key-history.ts'
import { placeObject } from '../commits/new-version.ts'
import type { BucketScope } from '../commits/scope.ts'
import { usageChange } from '../commits/usage.ts'
import { S3Error } from '../errors.ts'
import type { Commit } from '../kv/kv.ts'
import { limits } from '../limits.ts'
import { openUploadKey, partKey, uploadKey } from '../records/keyspace.ts'
import { uploadCodec } from '../records/record-codecs.ts'
import type { Checksum, CompletedUpload, Encryption, OpenUpload } from '../records/records.ts'
import { multipartChecksum, multipartEtag } from '../rules/multipart-checksum.ts'
import {
  checkUnchangedSince,
  checkWrite,
  conditionally,
  unquote,
  type WriteConditions,
} from '../rules/preconditions.ts'
import { minus, noUsage } from '../rules/quota.ts'
import { latestOf, type VersionInBucket, writtenVersionId } from '../rules/versions.ts'
import { type CompletionNote, type UnnotedRecord, writeNote } from './completion-note.ts'
import { removeIfRefused } from './incoming-data.ts'
import { toRuns } from './object-parts.ts'
import { partChecks, readAllParts, type StoredPart, usageOfParts } from './upload-parts.ts'
import { type FoundUpload, findUpload, noSuchUpload, type UploadAddress } from './uploads.ts'

export interface ListedPart {
  number: number
  etag: string
  /** As the client lists it. */
  checksum: Pick<Checksum, 'algorithm' | 'value'> | undefined
}

export interface Completion extends UploadAddress {
  /** In ascending order of number; at least one. */
  parts: readonly ListedPart[]
  conditions: WriteConditions
  /** S3 lets clients repeat it. It must then match the upload's. */
  encryption?: EncryptionRequest | undefined
  /** What the client expects of the whole object. */
  expected: {
    checksum?: Pick<Checksum, 'algorithm' | 'value'> | undefined
    type?: Checksum['type'] | undefined
    size?: number | undefined
  }
  /** Called with the object that this Complete made, not with one that an earlier one had made. */
  placed?(version: VersionInBucket): void
}

export type CompletionResult = Pick<CompletedUpload, 'etag' | 'versionId' | 'checksum' | 'encryption'>

/**
 * Makes the object, in one commit. Repeating a Complete that succeeded, with the same parts, gives the same result again. If the key already has the
 * copy of another bucket's version that the upload would make, it stays as it is, and is the result.
 * Throws NoSuchUpload, InvalidPart, InvalidPartOrder, InvalidRequest, EntityTooSmall, EntityTooLarge, BadDigest, PreconditionFailed,
 * ConditionalRequestConflict.
 */
export async function completeUpload(
  backend: Backend,
  scope: BucketScope,
  completion: Completion,
): Promise<CompletionResult> {
  const complete = (): Promise<CompletionResult> => completeInTurn(backend, scope, completion)
  return conditionally(completion.conditions, () => inTurnOfKey(backend, scope.name, completion.key, complete))
}

async function completeInTurn(backend: Backend, scope: BucketScope, completion: Completion): Promise<CompletionResult> {
  const before = await readCompletion(backend, scope, completion)
  if (before.state === 'completed') return before
  const note = await writeNote(backend, before.history, before.record, before.chosen)
  try {
    const { completed, placed } = await commitDecision(backend, async (attempt) => {
      const now = attempt === 0 ? before : await readCompletion(backend, scope, completion)
      if (now.state === 'completed') return { result: { completed: now, placed: undefined }, commit: {} }
      return decideCompletion(backend, now, note)
    })
    // Another Complete or another copy came first, and has a note of its own.
    if (placed === undefined) await backend.blobs.remove([note.manifest])
    else completion.placed?.(placed)
    return completed
  } catch (error) {
    await removeIfRefused(backend, note.manifest, error)
    throw error
  }
}

/** A completion that passed every check, and what was read for the checks. */
interface ReadyCompletion {
  state: 'ready'
  found: FoundUpload
  upload: OpenUpload
  history: KeyHistory
  stored: ReadonlyMap<number, StoredPart>
  chosen: readonly StoredPart[]
  record: UnnotedRecord
}

/** Finds everything that can be wrong with a completion. */
async function readCompletion(
  backend: Backend,
  scope: BucketScope,
  completion: Completion,
): Promise<ReadyCompletion | CompletedUpload> {
  const found = await findUpload(backend, scope, completion)
  const { record: upload } = found
  checkRepeatedEncryption(upload.encryption, completion.encryption)
  if (upload.state === 'completed') return repeated(upload, completion)
  if (completion.encryption?.by === 'customer') uploadKeyOf(backend, upload, completion, completion.encryption)
  const history = await readHistory(backend, scope, completion)
  // The bucket was removed and made again between the two reads, and the upload ended with it.
  if (history.bucket.record.id !== upload.bucketId) throw noSuchUpload(completion.uploadId)
  checkWrite(completion.conditions, history.versions.current, completion.key)
  checkUnchangedSince(completion.conditions, upload.initiatedMs, latestOf(history.versions), completion.key)
  const stored = await readAllParts(backend, completion.uploadId)
  const chosen = chooseParts(completion.parts, stored, { ...upload, uploadId: completion.uploadId })
  const checksum = objectChecksum(backend, upload)
  if (checksum !== undefined) await digestsReady([checksum.algorithm])
  const record = assemble(upload, completion, chosen, checksum)
  return { state: 'ready', found, upload, history, stored, chosen, record }
}

/** The answer is about the object that was made, so only a repetition with the same parts gets it. For others, the upload is over. */
function repeated(upload: CompletedUpload, { parts, uploadId }: Completion): CompletedUpload {
  const listed = parts.map(({ etag }) => ({ etag: unquote(etag.trim()) }))
  if (multipartEtag(listed) !== upload.etag) throw noSuchUpload(uploadId)
  return upload
}

async function decideCompletion(
  backend: Backend,
  ready: ReadyCompletion,
  { manifest, versionRandom, stamped }: CompletionNote,
): Promise<Decision<{ completed: CompletedUpload; placed: VersionInBucket | undefined }>> {
  const { upload, history, record } = ready
  const { replication } = upload.attributes
  const made = replication?.status === 'REPLICA' ? await findCopy(backend.kv, history, replication.of) : undefined
  if (made?.kind === 'object') {
    const completed = completedUpload(upload, { bucket: history.bucket.record, record: made }, backend.clock.now())
    // None of its parts is needed.
    const commit = completeCommit(backend, { ...ready, chosen: [] }, { checks: history.checks }, completed)
    return { result: { completed, placed: undefined }, commit }
  }
  const data = { ...record.data, note: manifest }
  const { object, commit: placing } = await placeObject(backend, history, { ...record, data, versionRandom, stamped })
  const placed = { bucket: history.bucket.record, record: object }
  const completed = completedUpload(upload, placed, backend.clock.now())
  return { result: { completed, placed }, commit: completeCommit(backend, ready, placing, completed) }
}

type NamedUpload = Pick<OpenUpload, 'checksum'> & { uploadId: string }

/** The stored parts that the client lists, in order. Finds everything that can be wrong with the list. Pure. */
export function chooseParts(
  listed: readonly ListedPart[],
  stored: ReadonlyMap<number, StoredPart>,
  upload: NamedUpload,
): StoredPart[] {
  checkOrder(listed, upload)
  const chosen: StoredPart[] = []
  let size = 0
  for (const [i, wanted] of listed.entries()) {
    const { number, etag } = wanted
    const part = stored.get(number)
    if (part === undefined || unquote(etag.trim()) !== part.record.etag) throw invalidPart(upload, wanted)
    checkListedChecksum(wanted, part, upload)
    if (upload.checksum?.type === 'COMPOSITE' && number !== i + 1) {
      // S3 documents: with composite checksums, part numbers must be consecutive from 1.
      throw new S3Error('InvalidPartOrder', { message: 'Part numbers must be consecutive and begin with 1.' })
    }
    if (i < listed.length - 1 && part.record.size < limits.partBytesMin) {
      throw new S3Error('EntityTooSmall', {
        details: {
          ETag: unquote(etag.trim()),
          PartNumber: String(number),
          ProposedSize: String(part.record.size),
          MinSizeAllowed: String(limits.partBytesMin),
        },
      })
    }
    size += part.record.size
    chosen.push(part)
  }
  if (size > limits.objectBytesMax) {
    throw new S3Error('EntityTooLarge', {
      details: { ProposedSize: String(size), MaxSizeAllowed: String(limits.objectBytesMax) },
    })
  }
  return chosen
}

/** Runs before any part is checked, because a list in the wrong order is InvalidPartOrder whatever its parts are. */
function checkOrder(listed: readonly ListedPart[], { uploadId }: NamedUpload): void {
  for (const [i, { number }] of listed.entries()) {
    const before = listed[i - 1]
    if (before !== undefined && before.number >= number)
      throw new S3Error('InvalidPartOrder', { details: { UploadId: uploadId } })
  }
}

/** For a composite checksum, the client must list the checksum of each part. For a full object's, it can. */
function checkListedChecksum(listed: ListedPart, part: StoredPart, upload: NamedUpload): void {
  const { number, checksum } = listed
  if (checksum === undefined) {
    if (upload.checksum?.type !== 'COMPOSITE') return
    throw new S3Error('InvalidRequest', {
      message: `The upload was created using a ${upload.checksum.algorithm.toLowerCase()} checksum. The complete request must include the checksum for each part. It was missing for part ${number} in the request.`,
    })
  }
  if (upload.checksum !== undefined && upload.checksum.algorithm !== checksum.algorithm) {
    throw new S3Error('BadDigest', {
      message: `The ${checksum.algorithm.toLowerCase()} you specified for part ${number} did not match what we received.`,
    })
  }
  const { checksum: kept } = part.record
  if (kept?.algorithm !== checksum.algorithm || kept.value !== checksum.value) throw invalidPart(upload, listed)
}

const invalidPart = ({ uploadId }: NamedUpload, { number, etag }: ListedPart): S3Error =>
  new S3Error('InvalidPart', {
    details: { UploadId: uploadId, PartNumber: String(number), ETag: unquote(etag.trim()) },
  })

/** The checksum to give the object. If the upload asked for none, its parts may still have the server's default checksum. */
function objectChecksum(
  { defaultChecksum: algorithm }: Backend,
  { checksum }: OpenUpload,
): OpenUpload['checksum'] | undefined {
  return checksum ?? (algorithm && { algorithm, type: 'FULL_OBJECT' })
}

function assemble(
  upload: OpenUpload,
  completion: Completion,
  chosen: readonly StoredPart[],
  wanted: OpenUpload['checksum'],
): UnnotedRecord {
  const parts = chosen.map((part) => part.record)
  const { encryption } = upload
  const size = parts.reduce((sum, part) => sum + part.size, 0)
  const checksum = multipartChecksum(wanted, parts)
  checkExpected(completion.expected, { checksum, type: upload.checksum?.type ?? checksum?.type, size })
  return {
    attributes: upload.attributes,
    size,
    etag: multipartEtag(parts),
    checksum,
    data: { kind: 'parts', uploadId: completion.uploadId, runs: toRuns(parts) },
    // The key is bound to the upload's id, because the parts stay under it.
    encryptionAt: encryption && (() => encryption),
    madeBy: 'CompleteMultipartUpload',
  }
}

function checkExpected(
  expected: Completion['expected'],
  actual: { checksum: Checksum | undefined; type: Checksum['type'] | undefined; size: number },
): void {
  if (expected.size !== undefined && expected.size !== actual.size) {
    throw new S3Error('InvalidRequest', {
      vendorMessage: (header) =>
        `The provided '${header('mp-object-size')}' header value ${expected.size} does not match what was computed: ${actual.size}`,
    })
  }
  if (expected.type !== undefined && expected.type !== actual.type) {
    throw new S3Error('InvalidRequest', {
      message: `The upload was created using the ${actual.type ?? 'no'} checksum type. The complete request must use the same checksum type.`,
    })
  }
  if (expected.checksum === undefined) return
  const { algorithm, value } = expected.checksum
  const known = actual.checksum?.algorithm === algorithm ? actual.checksum.value : undefined
  // Clients can give a composite with or without the number of parts at its end.
  if (known !== value && known?.split('-')[0] !== value)
    throw new S3Error('BadDigest', {
      message: `The ${algorithm} you specified did not match the calculated checksum.`,
    })
}

function completedUpload(upload: OpenUpload, version: VersionInBucket, completedMs: number): CompletedUpload {
  const { record } = version
  return {
    state: 'completed',
    bucketId: upload.bucketId,
    key: upload.key,
    completedMs,
    etag: record.etag,
    versionId: writtenVersionId(record.versionId),
    checksum: record.checksum,
    encryption: shownEncryption(record.encryption),
  }
}

function shownEncryption(encryption: Encryption | undefined): CompletedUpload['encryption'] {
  if (encryption === undefined) return undefined
  const { wrappedKey: _, ...shown } = encryption
  return shown
}

/** One commit for the object, the upload's state and every part. It checks that the upload still has exactly the parts that were read. */
function completeCommit(
  backend: Backend,
  { found: { uploadId, version, bucket }, upload, stored, chosen }: ReadyCompletion,
  placing: Commit,
  result: CompletedUpload,
): Commit {
  const key = uploadKey(uploadId)
  const kept = new Set(chosen)
  const left = [...stored.values()].filter((part) => !kept.has(part))
  const { quota, id } = bucket.record
  return {
    checks: [...(placing.checks ?? []), { key, version }, ...partChecks(uploadId, stored.values())],
    puts: [
      ...(placing.puts ?? []),
      { key, value: uploadCodec.encode(key, result) },
      ...left.map(({ record: { manifest, number } }) =>
        garbagePut(backend, { kind: 'blob', manifest, owner: { kind: 'part', uploadId, number } }),
      ),
      // The object is counted in place of the upload.
      ...(quota === undefined ? [] : usageChange(backend, id, minus(noUsage, usageOfParts(stored)))),
    ],
    deletes: [
      ...(placing.deletes ?? []),
      openUploadKey(upload.bucketId, upload.key, uploadId),
      ...left.map((part) => partKey(uploadId, part.record.number)),
    ],
  }
}
