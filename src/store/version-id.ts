/** Names of versions: they carry the version's sequence, so that a version is found by its name alone. Pure. */
import { S3Error } from '../errors.ts'

/** What was written while versioning was not enabled. */
export const nullVersionId = 'null'

export const versionRandomBytes = 10
const sequenceDigits = 12
const shape = /^[0-9a-f]{32}$/

/** Random bytes keep the name of a removed version from ever naming another, should its sequence be given again. */
export function versionIdOf(sequence: number, random: Buffer): string {
  return sequence.toString(16).padStart(sequenceDigits, '0') + random.toString('hex')
}

export function sequenceOf(versionId: string): number {
  return Number.parseInt(versionId.slice(0, sequenceDigits), 16)
}

export function versionRandom(versionId: string): Buffer {
  return Buffer.from(versionId.slice(sequenceDigits), 'hex')
}

/** Throws InvalidArgument unless the text can be the name of a version. */
export function parseVersionId(raw: string): string {
  if (raw === nullVersionId || shape.test(raw)) return raw
  throw new S3Error('InvalidArgument', {
    message: 'Invalid version id specified',
    details: { ArgumentName: 'versionId', ArgumentValue: raw },
  })
}
