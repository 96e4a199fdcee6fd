/** What happens to a vendor header that an operation does not declare. Names are in lower case, without prefix. */
import { editDistance } from '../edit-distance.ts'

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
  ['expected-bucket-owner', 'It says whose a bucket must be, where one is made or where no bucket is named.'],
  ['max-parts', 'It bounds a list, which only some answers hold.'],
  ['metadata-directive', 'It says which metadata a copy gets. Nothing is copied where there is no source.'],
  ['object-attributes', 'It picks elements of an answer that only one operation gives.'],
  ['optional-object-attributes', 'It asks a listing for more, and this answer is no listing.'],
  ['part-number-marker', 'It says where a list goes on, which only some answers hold.'],
  ['request-payer', 'Every request here is paid for by the owner of the bucket.'],
])

/** Words that promise a guarantee. They can be anywhere in a name, and split by other characters: `objectlock-mode`, `sse`, `content-md5`. */
const guaranteeWords =
  /(?<![bc])lock|retain|retention|legalhold|governance|encrypt|kms|^sse|ssec|checksum|digest|crc(?:32|64)|sha(?:1|256|512)|md5/

/** Headers of locks, encryption and checksums. A name that differs from one by one or two typing errors is treated as that one. */
const guarded: readonly string[] = [
  'bucket-object-lock-enabled',
  'bypass-governance-retention',
  'checksum-algorithm',
  'checksum-crc32',
  'checksum-crc32c',
  'checksum-crc64nvme',
  'checksum-sha1',
  'checksum-sha256',
  'checksum-type',
  'object-lock-legal-hold',
  'object-lock-mode',
  'object-lock-retain-until-date',
  'sdk-checksum-algorithm',
  'server-side-encryption',
  'server-side-encryption-aws-kms-key-id',
  'server-side-encryption-bucket-key-enabled',
  'server-side-encryption-context',
  'server-side-encryption-customer-algorithm',
  'server-side-encryption-customer-key',
  'server-side-encryption-customer-key-md5',
]
const typingErrorsMax = 2

function looksLikeGuarantee(name: string): boolean {
  // Clients choose these names for metadata of their own, which promises nothing.
  if (name.startsWith('meta-')) return false
  if (guaranteeWords.test(name.replaceAll(/[^a-z0-9]/g, ''))) return true
  const isNear = (known: string): boolean => Math.abs(known.length - name.length) <= typingErrorsMax
  return guarded.some((known) => isNear(known) && editDistance(name, known) <= typingErrorsMax)
}

/** Whether a header that the operation does not declare must be refused by name. All others pass: they ask for nothing. */
export function asksForGuarantee(name: string): boolean {
  if (meaninglessElsewhere.has(name)) return false
  if (guarantees.has(name) || guaranteeFamilies.some((family) => name.startsWith(family))) return true
  return looksLikeGuarantee(name)
}
