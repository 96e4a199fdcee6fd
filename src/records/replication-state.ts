/** What a version says of its copies in other buckets. */

export type ReplicationState =
  /** `copies`: the ids of those that were made, by the ARN of their bucket. */
  | { status: 'PENDING' | 'COMPLETED' | 'FAILED'; copies?: Readonly<Record<string, string>> | undefined }
  /** It is itself a copy, of the version with this id. */
  | { status: 'REPLICA'; of: string }
