/** The identity policies that every account has, with MinIO's names. As in MinIO, `readonly` does not allow listing. */

const version = '2012-10-17'
const everything = 'arn:aws:s3:::*'

const allowing = (...actions: readonly string[]): string =>
  JSON.stringify({ Version: version, Statement: [{ Effect: 'Allow', Action: actions, Resource: [everything] }] })

/** Policy documents, by name. */
export const builtInPolicies: ReadonlyMap<string, string> = new Map([
  ['readonly', allowing('s3:GetBucketLocation', 's3:GetObject')],
  ['readwrite', allowing('s3:*')],
  ['writeonly', allowing('s3:PutObject')],
  ['consoleAdmin', allowing('s3:*', 'admin:*', 'kms:*')],
])
