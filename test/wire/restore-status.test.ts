/** `optional-object-attributes`: asks lists for the state of restores from archives. Nothing here is ever being restored. */
import { ListObjectsCommand, ListObjectsV2Command, ListObjectVersionsCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import type { Wire } from '../support/wire-client.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { type SdkCall, sdk } from '../support/wire-sdk.ts'

const archived = async (wire: Wire): Promise<void> => {
  for (const name of ['GLACIER', 'DEEP_ARCHIVE'])
    await wire.must({ method: 'PUT', key: name, body: 'x', vendor: { 'storage-class': name } })
}

/** `entry`: what a listing has of each object. */
const rows = (query: Record<string, string>, call: SdkCall, entry = 'ListBucketResult/Contents'): Row[] => {
  const ask = (asked: string) => ({ method: 'GET', query, vendor: { 'optional-object-attributes': asked } }) as const
  return [
    {
      it: 'takes RestoreStatus, and shows none for what is not being restored',
      proves: [
        'vendor:optional-object-attributes',
        ...['IsRestoreInProgress', 'RestoreExpiryDate'].map((name) => `answer element:${entry}/RestoreStatus/${name}`),
      ],
      status: 200,
      given: archived,
      ask: ask('RestoreStatus'),
      afterwards: async (_, { body }) => {
        expect(body.toString()).toContain('<StorageClass>GLACIER</StorageClass>')
        expect(body.toString()).not.toContain('RestoreStatus')
      },
      sdk: call,
    },
    ...['', 'Restorestatus', 'RestoreStatus,Owner'].map(
      (asked): Row => ({
        it: `refuses "${asked}"`,
        proves: ['vendor:optional-object-attributes'],
        ...refusal('InvalidArgument', {
          ArgumentName: '{{prefix}}optional-object-attributes',
          ArgumentValue: asked,
        }),
        ask: ask(asked),
      }),
    ),
  ]
}

const input = { Bucket: 'wire', OptionalObjectAttributes: ['RestoreStatus' as const] }
wireTests('ListObjects', rows({}, sdk(ListObjectsCommand, input)))
wireTests('ListObjectsV2', rows({ 'list-type': '2' }, sdk(ListObjectsV2Command, input)))
wireTests(
  'ListObjectVersions',
  rows({ versions: '' }, sdk(ListObjectVersionsCommand, input), 'ListVersionsResult/Version'),
)
