/** S3's storage classes, and which of them lifecycle rules move objects to. */

/**
 * A location can keep the objects of some classes; otherwise a class is only a name. Objects of every class can be read at once. Append only, at most 16,
 * because records hold positions in this list.
 */
export const storageClasses = [
  'STANDARD',
  'REDUCED_REDUNDANCY',
  'STANDARD_IA',
  'ONEZONE_IA',
  'INTELLIGENT_TIERING',
  'GLACIER',
  'DEEP_ARCHIVE',
  'OUTPOSTS',
  'GLACIER_IR',
  'SNOW',
  'EXPRESS_ONEZONE',
  'FSX_OPENZFS',
  'FSX_ONTAP',
] as const

/** STANDARD is stored as no class. */
export type StorageClass = Exclude<(typeof storageClasses)[number], 'STANDARD'>

export const [, ...namedStorageClasses] = storageClasses

/** The classes that lifecycle rules can name, in S3's order: an object moves only towards the end, from any other class to any of these. */
export const transitionClasses = [
  'STANDARD_IA',
  'INTELLIGENT_TIERING',
  'ONEZONE_IA',
  'GLACIER_IR',
  'GLACIER',
  'DEEP_ARCHIVE',
] as const satisfies readonly StorageClass[]

export type TransitionClass = (typeof transitionClasses)[number]

/** How far down a class is. 0: lifecycle rules move its objects to any class that they can name. */
export function transitionRank(storageClass: StorageClass | undefined): number {
  return ranks.get(storageClass) ?? 0
}

const ranks: ReadonlyMap<StorageClass | undefined, number> = new Map(transitionClasses.map((name, i) => [name, i + 1]))
