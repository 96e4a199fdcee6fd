/** The definition of a location as a configuration file has it, for people to copy. Pure. */
import type { LocationPolicy } from '../blobs/location-policy.ts'

export function definitionText(name: string, { scheme, stores, storageClasses, ...numbers }: LocationPolicy): string {
  return [
    `[locations.${name}]`,
    `scheme = "${scheme}"`,
    ...Object.entries(numbers).map(([key, value]) => `${key} = ${value}`),
    `stores = ${listText(stores)}`,
    ...(storageClasses === undefined ? [] : [`storageClasses = ${listText(storageClasses)}`]),
  ].join('\n')
}

const listText = (names: readonly string[]): string => `[${names.map((name) => `"${name}"`).join(', ')}]`
