/** Reads and removals, over the wire, of what a bucket has none of: replication. */
import { DeleteBucketReplicationCommand, GetBucketReplicationCommand } from '@aws-sdk/client-s3'
import type { ErrorCode } from '../../src/errors.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { type SdkCall, sdk } from '../support/wire-sdk.ts'
import { ownerRows } from '../support/wire-versions.ts'

const input = { Bucket: 'wire' }

function notThere(subResource: string, code: ErrorCode, call: SdkCall): Row[] {
  const ask = { method: 'GET', query: { [subResource]: '' } } as const
  return [
    { it: `answers ${code}`, ...refusal(code, { BucketName: 'wire' }), ask, vendor: {}, sdk: call },
    {
      it: 'answers so whatever else the query says',
      ...refusal(code, { BucketName: 'wire' }),
      ask: { ...ask, query: { [subResource]: 'x', id: 'y', 'x-id': 'z' } },
    },
    ...ownerRows(ask),
  ]
}

function removal(subResource: string, call: SdkCall): Row[] {
  const ask = { method: 'DELETE', query: { [subResource]: '' } } as const
  return [
    {
      it: 'answers 204 where there is nothing to remove, and leaves the bucket',
      status: 204,
      ask,
      vendor: {},
      body: '',
      afterwards: async (wire) => void (await wire.must({ method: 'HEAD' })),
      sdk: call,
    },
    ...ownerRows(ask, {
      afterwards: async (wire, { status }) => void (status !== 404 && (await wire.must({ method: 'HEAD' }))),
    }),
  ]
}

wireTests(
  'GetBucketReplication',
  notThere('replication', 'ReplicationConfigurationNotFoundError', sdk(GetBucketReplicationCommand, input)),
)
wireTests('DeleteBucketReplication', removal('replication', sdk(DeleteBucketReplicationCommand, input)))
