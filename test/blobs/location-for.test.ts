/** Where the data of an object belongs. */
import { expect, it } from 'vitest'
import { locationFor } from '../../src/blobs/blobs.ts'

const locations = [
  { name: 'default' },
  { name: 'cold', storageClasses: ['GLACIER', 'DEEP_ARCHIVE'] },
  { name: 'rare', storageClasses: ['STANDARD_IA'] },
]

it.each<[storageClass: string | undefined, bucketLocation: string, expected: string]>([
  [undefined, 'default', 'default'],
  [undefined, 'cold', 'cold'],
  ['GLACIER', 'default', 'cold'],
  ['DEEP_ARCHIVE', 'rare', 'cold'],
  ['STANDARD_IA', 'cold', 'rare'],
  ['ONEZONE_IA', 'default', 'default'],
])('an object of class %s in a bucket in %s belongs in %s', (storageClass, bucketLocation, expected) => {
  expect(locationFor(locations, bucketLocation, storageClass)).toBe(expected)
})
