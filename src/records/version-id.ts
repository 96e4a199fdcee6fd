/** Version ids. They contain the version's sequence, so that the id alone finds the version. Pure. */
import { hash } from 'node:crypto'
import type { VersioningState } from './bucket-record.ts'

/** The id of versions that were written while versioning was not enabled. */
export const nullVersionId = 'null'

export const versionRandomBytes = 10
const sequenceDigits = 12

/** The random bytes keep the id of a removed version from naming another version that gets the same sequence later. */
export function versionIdOf(sequence: number, random: Buffer): string {
  return sequence.toString(16).padStart(sequenceDigits, '0') + random.toString('hex')
}

/** For a copy of a delete marker: the same for the same `original`, which is the marker's id in its own bucket. */
export function randomOfCopy(original: string): Buffer {
  return hash('sha256', original, 'buffer').subarray(0, versionRandomBytes)
}

/** Whether a delete marker got its id by `randomOfCopy`. */
export function isCopyOf({ versionId }: { versionId: string }, original: string): boolean {
  return versionId.slice(sequenceDigits) === randomOfCopy(original).toString('hex')
}

/** The random bytes for the blob's description, in hex. `undefined` when the version is to be the null version. */
export function describedRandom({ versioning }: { versioning: VersioningState }, random: Buffer): string | undefined {
  return versioning === 'enabled' ? random.toString('hex') : undefined
}

export function sequenceOf(versionId: string): number {
  return Number.parseInt(versionId.slice(0, sequenceDigits), 16)
}

export function versionRandom(versionId: string): Buffer {
  return Buffer.from(versionId.slice(sequenceDigits), 'hex')
}
