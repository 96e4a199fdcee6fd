/** Encrypted objects as tests of the store write and read them. */
import { bytesSource } from '../../src/byte-source.ts'
import type { Backend } from '../../src/commits/backend.ts'
import type { CustomerKey, EncryptionRequest } from '../../src/commits/encryption.ts'
import type { BucketScope } from '../../src/commits/scope.ts'
import { completeUpload } from '../../src/objects/complete-upload.ts'
import { openObject } from '../../src/objects/read-object.ts'
import { writePart } from '../../src/objects/upload-parts.ts'
import { createUpload } from '../../src/objects/uploads.ts'
import { writeObject } from '../../src/objects/write-object.ts'
import { patternBytes } from '../support/seeded.ts'
import { listedPart, plain, scope } from './fixture.ts'

export const customerKey: CustomerKey = { secret: patternBytes(77, 32) }

const context = Buffer.from('{"for":"tests"}').toString('base64')

/** Every way of being encrypted. `testKeys` has a key named `invoices`. */
export const modes = {
  'SSE-S3': { by: 'store' },
  'SSE-KMS': { by: 'kms' },
  'SSE-KMS with a named key and a context': { by: 'kms', kmsKeyId: 'invoices', context },
  'SSE-C': { by: 'customer', customerKey },
} as const satisfies Record<string, EncryptionRequest>

export type Mode = keyof typeof modes
export const modeNames = Object.keys(modes) as Mode[]

const keyOf = (mode: Mode): CustomerKey | undefined => (mode === 'SSE-C' ? customerKey : undefined)

export interface At {
  key: string
  mode: Mode
  in?: BucketScope
}

export async function putEncrypted(backend: Backend, at: At, data: Buffer): Promise<void> {
  const body = bytesSource(data)
  const { key, in: bucket = scope } = at
  await writeObject(backend, bucket, {
    key,
    attributes: plain,
    data: { body },
    conditions: {},
    encryption: modes[at.mode],
  })
}

export async function beginEncrypted(backend: Backend, { key, mode, in: bucket = scope }: At): Promise<string> {
  const created = await createUpload(backend, bucket, {
    key,
    attributes: plain,
    checksum: undefined,
    encryption: modes[mode],
  })
  return created.uploadId
}

export async function sendEncrypted(backend: Backend, at: At, uploadId: string, number: number, data: Buffer) {
  const secret = keyOf(at.mode)
  const { part } = await writePart(backend, at.in ?? scope, {
    key: at.key,
    uploadId,
    number,
    encryption: secret && { by: 'customer', customerKey: secret },
    data: () => ({ body: bytesSource(data) }),
  })
  return part
}

/** An object of these parts. Resolves with the upload's id. */
export async function putInParts(backend: Backend, at: At, parts: readonly Buffer[]): Promise<string> {
  const uploadId = await beginEncrypted(backend, at)
  const sent: Awaited<ReturnType<typeof sendEncrypted>>[] = []
  for (const [i, data] of parts.entries()) sent.push(await sendEncrypted(backend, at, uploadId, i + 1, data))
  const listed = sent.map(listedPart)
  await completeUpload(backend, at.in ?? scope, { key: at.key, uploadId, parts: listed, conditions: {}, expected: {} })
  return uploadId
}

export interface Reading extends At {
  versionId?: string
  range?: [start: number, end: number]
}

export async function readEncrypted(backend: Backend, at: Reading): Promise<Buffer> {
  const { key, mode, versionId, in: bucket = scope } = at
  const { body } = await openObject(backend, bucket, { key, versionId, customerKey: keyOf(mode) }, ({ size }) => {
    const [start, end] = at.range ?? [0, size]
    return { range: { start, end } }
  })
  return body.read()
}
