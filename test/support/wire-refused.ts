/** Headers that ask for what this server does not keep yet, so that they must be refused by name wherever new data is written. */
export const unkeptHeaders = [
  'server-side-encryption',
  'server-side-encryption-aws-kms-key-id',
  'server-side-encryption-bucket-key-enabled',
  'server-side-encryption-context',
  'server-side-encryption-customer-algorithm',
  'server-side-encryption-customer-key',
  'server-side-encryption-customer-key-MD5',
] as const
