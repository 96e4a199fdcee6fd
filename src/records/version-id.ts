/** Names of versions: they carry the version's sequence, so that a version is found by its name alone. Pure. */
import type { VersioningState } from './bucket-record.ts'

/** What was written while versioning was not enabled. */
export const nullVersionId = 'null'

export const versionRandomBytes = 10
const sequenceDigits = 12

/** Random bytes keep the name of a removed version from ever naming another, should its sequence be given again. */
export function versionIdOf(sequence: number, random: Buffer): string {
  return sequence.toString(16).padStart(sequenceDigits, '0') + random.toString('hex')
}

/** What a blob tells of the name of its version, if that gets one of its own. */
export function describedRandom({ versioning }: { versioning: VersioningState }, random: Buffer): string | undefined {
  return versioning === 'enabled' ? random.toString('hex') : undefined
}

export function sequenceOf(versionId: string): number {
  return Number.parseInt(versionId.slice(0, sequenceDigits), 16)
}

export function versionRandom(versionId: string): Buffer {
  return Buffer.from(versionId.slice(sequenceDigits), 'hex')
}
