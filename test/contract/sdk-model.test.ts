/**
 * The support table against the newest AWS SDK for S3, whose schemas hold every operation and parameter. What appears there fails here with its name
 * until it is implemented, or declared as refused or absent.
 */
import { describe, expect, it } from 'vitest'
import { checksumAlgorithms } from '../../src/checksums/checksums.ts'
import { type OperationRow, supportTable } from '../../src/contract/support-table.ts'
import { operations } from '../../src/operations/table.ts'
import { commandNames, type ModelOperation, modelOperations } from './sdk-model.ts'

const table = supportTable(operations)
const rowOf = (name: string): OperationRow | undefined => table.find((row) => row.name === name)

const messages = ['request', 'answer'] as const
type Message = (typeof messages)[number]

/** What the SDK calls otherwise than S3 sends it. */
const sdkNames: Readonly<Record<string, readonly string[]>> = {
  // The SDK makes a text of the header `Expires` beside the time.
  'GetObject answer': ['header expiresstring'],
  'HeadObject answer': ['header expiresstring'],
  // The document is one element, which the SDK reads as if it lay in another.
  'GetBucketLocation answer': ['element LocationConstraint/LocationConstraint'],
}

/** Nobody looks at the root of an answer, and the model has other names than S3 sends. */
const sentRoots: Readonly<Record<string, string>> = {
  ListBucketAnalyticsConfigurationResult: 'ListBucketAnalyticsConfigurationsResult',
  ListBucketIntelligentTieringConfigurationsOutput: 'ListIntelligentTieringConfigurationsResult',
}

/** The model's names as S3 sends them. */
const sentNames = (model: ModelOperation, message: Message): string[] =>
  model[message].map((name) =>
    name.replace(/^element ([^/]+)/, (all, root) => (root in sentRoots ? `element ${sentRoots[root]}` : all)),
  )

/** What stands in the table and not in the model, for all operations. */
const beyondModel = (name: string): boolean =>
  // Any request may say who pays, and any document may come with digests.
  name === 'vendor request-payer' || name === 'header content-md5' || /^vendor (checksum-|sdk-checksum-)/.test(name)

/** HTTP's own condition of a range, which browsers and download tools send. */
const ifRange = 'header if-range'

/** Another Holdfast server, or an import, says with them that a write is a copy. */
const replica = 'header x-holdfast-replica'
const ofOriginal = [replica, 'header x-holdfast-last-modified']

/** S3 takes it of objects too, though no SDK sends it. */
const writeGrant = 'vendor grant-write'

const encryption = ['', '-aws-kms-key-id', '-bucket-key-enabled', '-context'].map(
  (rest) => `vendor server-side-encryption${rest}`,
)

/** The same, for one. */
const ours: Readonly<Record<string, readonly string[]>> = {
  // minio-go says with each step how the upload is encrypted.
  'UploadPart request': encryption,
  'UploadPartCopy request': encryption,
  'CompleteMultipartUpload request': encryption,
  'PutObject request': [...ofOriginal, writeGrant],
  'CreateMultipartUpload request': [...ofOriginal, writeGrant],
  'CopyObject request': [writeGrant],
  'DeleteObject request': ofOriginal,
  'GetObject answer': [replica],
  'HeadObject answer': [replica],
  // Refused with S3's own error.
  'GetObject request': [...encryption, ifRange],
  'GetObjectAttributes request': encryption,
  'HeadObject request': [...encryption, ifRange],
  // S3 sends it, says the interface document.
  'GetObjectAcl answer': ['vendor version-id'],
  'PutObjectAcl answer': ['vendor version-id'],
}

/** The names of a message as the table has them, in the model's words. */
function tableNames(row: OperationRow, message: Message): string[] {
  const rows = row.parameters.filter((parameter) => parameter.message === message)
  const names = rows.map(({ in: place, name }) => {
    const isHeader = place === 'vendor' || place === 'header'
    return `${place} ${isHeader ? name.toLowerCase() : name}`
  })
  if (message === 'answer') return names
  const routed = [
    ...row.query.map((text) => `query ${text.split('=')[0]}`),
    ...row.vendorHeaders.map((name) => `vendor ${name}`),
  ]
  return [...names, ...routed]
}

/** Refused or absent as a whole; what lies in it needs no word of its own. */
function closedNames(row: OperationRow, message: Message): string[] {
  const closed = row.parameters.filter(
    ({ message: of, in: place, here, absentUnless }) =>
      of === message && place === 'element' && (here === 'refused' || absentUnless !== undefined),
  )
  return closed.map(({ name }) => `element ${name}/`)
}

/** Refused as a whole, or always answered by an error: its parameters mean nothing. */
const isComparable = (row: OperationRow, message: Message): boolean =>
  row.here === 'works' && (message === 'request' || row.status < 400)

/** What the model has of a message and the table has not. */
function missing(model: ModelOperation, row: OperationRow, message: Message): string[] {
  if (!isComparable(row, message)) return []
  const known = new Set([...tableNames(row, message), ...(sdkNames[`${row.name} ${message}`] ?? [])])
  const closed = closedNames(row, message)
  return sentNames(model, message).filter((name) => !known.has(name) && !closed.some((above) => name.startsWith(above)))
}

/** What the table has of a message and the model has not: a misspelt name shows here, too. */
function unknown(model: ModelOperation, row: OperationRow, message: Message): string[] {
  if (!isComparable(row, message)) return []
  const theirs = new Set([...sentNames(model, message), ...model.query.map((text) => `query ${text.split('=')[0]}`)])
  const excused = ours[`${row.name} ${message}`] ?? []
  return tableNames(row, message).filter((name) => !theirs.has(name) && !beyondModel(name) && !excused.includes(name))
}

describe('the support table has', () => {
  it('every command of the SDK, by its method', () => {
    expect(commandNames.length).toBeGreaterThan(100)
    expect(modelOperations.map(({ name }) => name).sort()).toEqual([...commandNames].sort())
    expect(commandNames.filter((name) => rowOf(name) === undefined)).toEqual([])
    const asked = modelOperations.map(({ name, method }) => [name, method])
    expect(asked).toEqual(modelOperations.map(({ name }) => [name, rowOf(name)?.method]))
  })

  it('no operation beside them but the form post, which no SDK sends, and those of S3 Control', () => {
    const names = new Set(commandNames)
    expect(table.map(({ name }) => name).filter((name) => !names.has(name))).toEqual([
      'PutAccountPublicAccessBlock',
      'GetAccountPublicAccessBlock',
      'DeleteAccountPublicAccessBlock',
      'TagResource',
      'ListTagsForResource',
      'UntagResource',
      'PostObject',
    ])
  })

  it.each(modelOperations.map((model) => [model.name, model] as const))('every parameter of %s', (name, model) => {
    const row = rowOf(name)
    if (row === undefined) throw new Error(`${name} is not in the table`)
    for (const message of messages) {
      expect({ message, names: missing(model, row, message) }).toEqual({ message, names: [] })
      expect({ message, names: unknown(model, row, message) }).toEqual({ message, names: [] })
    }
  })

  it('every checksum algorithm of the SDK', async () => {
    const { ChecksumAlgorithm } = await import('@aws-sdk/client-s3')
    expect([...checksumAlgorithms].sort()).toEqual(Object.values(ChecksumAlgorithm).sort())
  })
})
