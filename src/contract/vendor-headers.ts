/** What happens to a vendor header that an operation does not declare. Names are in lower case, without prefix. */

/**
 * Families of headers that ask for a guarantee. An unknown name in one of them is refused, because it can be a typing error: ignoring it would lose a lock or a
 * condition.
 */
const guaranteeFamilies: readonly string[] = [
  'acl',
  'bucket-object-lock',
  'bypass-',
  'checksum-',
  'copy-source',
  'expected-',
  'grant-',
  'if-',
  'object-if-',
  'object-lock',
  'rename-source',
  'sdk-checksum-',
  'server-side-encryption',
  'source-expected-',
  'tagging',
]

/** Names outside these families that ask S3 for something. Operations that do not declare them can't do it. */
const guarantees: ReadonlySet<string> = new Set([
  'bucket-namespace',
  'client-token',
  'confirm-remove-self-bucket-access',
  'create-session-mode',
  // Metadata without a key.
  'meta-',
  'mfa',
  'mp-object-size',
  'object-annotation-directive',
  'object-ownership',
  'object-size',
  'object-version-id',
  's3session-token',
  'skip-destination-validation',
  'storage-class',
  'transition-default-minimum-object-size',
  'website-redirect-location',
  'write-offset-bytes',
])

/** S3's own names that clients also send with operations where they mean nothing, and why. There they are ignored, whatever their family. */
export const meaninglessElsewhere: ReadonlyMap<string, string> = new Map([
  ['checksum-mode', 'It asks for checksums in the answer, which only answers about objects can hold.'],
  ['max-parts', 'It bounds a list, which only some answers hold.'],
  ['metadata-directive', 'It says which metadata a copy gets. Nothing is copied where there is no source.'],
  ['object-attributes', 'It picks elements of an answer that only one operation gives.'],
  ['optional-object-attributes', 'It asks a listing for more, and this answer is no listing.'],
  ['part-number-marker', 'It says where a list goes on, which only some answers hold.'],
  ['request-payer', 'Every request here is paid for by the owner of the bucket.'],
])

/** Whether a header that the operation does not declare must be refused by name. All others pass: they ask for nothing. */
export function asksForGuarantee(name: string): boolean {
  if (meaninglessElsewhere.has(name)) return false
  return guarantees.has(name) || guaranteeFamilies.some((family) => name.startsWith(family))
}
