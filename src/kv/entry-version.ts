/** Converts versions of entries, which the engines in this directory make from numbers that grow with each write. */
import type { CheckReport, Version } from './kv.ts'

export function versionOfNumber(number: number): Version {
  const opaque: unknown = number
  return opaque as Version
}

export function numberOfVersion(version: Version): number {
  const made: unknown = version
  return made as number
}

export function coversVersion({ coversBelow }: CheckReport, version: Version): boolean {
  return numberOfVersion(version) < coversBelow
}
