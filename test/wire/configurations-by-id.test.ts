/** Lists, reads and removals, over the wire, of configurations that have an id: analytics, intelligent tiering, inventory, metrics. */
import {
  DeleteBucketAnalyticsConfigurationCommand,
  DeleteBucketIntelligentTieringConfigurationCommand,
  DeleteBucketInventoryConfigurationCommand,
  DeleteBucketMetricsConfigurationCommand,
  GetBucketAnalyticsConfigurationCommand,
  GetBucketIntelligentTieringConfigurationCommand,
  GetBucketInventoryConfigurationCommand,
  GetBucketMetricsConfigurationCommand,
  ListBucketAnalyticsConfigurationsCommand,
  ListBucketIntelligentTieringConfigurationsCommand,
  ListBucketInventoryConfigurationsCommand,
  ListBucketMetricsConfigurationsCommand,
} from '@aws-sdk/client-s3'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { type SdkCall, sdk } from '../support/wire-sdk.ts'
import { ownerRows } from '../support/wire-versions.ts'

const input = { Bucket: 'wire' }
const one = { Bucket: 'wire', Id: 'one' }
const empty = { IsTruncated: false, NextContinuationToken: undefined }

function listed(subResource: string, root: string, call: SdkCall): Row[] {
  const ask = { method: 'GET', query: { [subResource]: '' } } as const
  return [
    { it: 'answers an empty list', status: 200, ask, vendor: {}, xml: { [root]: { IsTruncated: 'false' } }, sdk: call },
    {
      it: 'refuses a token that it never gave',
      proves: ['query:continuation-token'],
      ...refusal('InvalidArgument', { ArgumentName: 'continuation-token', ArgumentValue: 'x' }),
      ask: { ...ask, query: { [subResource]: '', 'continuation-token': 'x' } },
    },
    ...ownerRows(ask),
  ]
}

function read(subResource: string, call: SdkCall): Row[] {
  const ask = { method: 'GET', query: { [subResource]: '', id: 'one' } } as const
  return [
    {
      it: 'finds none by an id',
      ...refusal('NoSuchConfiguration', { BucketName: 'wire' }),
      ask,
      vendor: {},
      sdk: call,
    },
    ...ownerRows(ask),
  ]
}

function removed(subResource: string, call: SdkCall): Row[] {
  const ask = { method: 'DELETE', query: { [subResource]: '', id: 'one' } } as const
  return [
    {
      it: 'finds none to remove, and leaves the bucket',
      proves: ['query:id'],
      ...refusal('NoSuchConfiguration', { BucketName: 'wire' }),
      ask,
      vendor: {},
      afterwards: async (wire) => void (await wire.must({ method: 'HEAD' })),
      sdk: call,
    },
    {
      it: 'refuses to remove it does not know which',
      ...refusal('InvalidArgument', { ArgumentName: 'id', ArgumentValue: '' }),
      ask: { ...ask, query: { [subResource]: '' } },
    },
    ...ownerRows(ask),
  ]
}

wireTests(
  'ListBucketAnalyticsConfigurations',
  listed(
    'analytics',
    'ListBucketAnalyticsConfigurationsResult',
    sdk(ListBucketAnalyticsConfigurationsCommand, input, empty),
  ),
)
wireTests('GetBucketAnalyticsConfiguration', read('analytics', sdk(GetBucketAnalyticsConfigurationCommand, one)))
wireTests(
  'DeleteBucketAnalyticsConfiguration',
  removed('analytics', sdk(DeleteBucketAnalyticsConfigurationCommand, one)),
)
wireTests(
  'ListBucketIntelligentTieringConfigurations',
  listed(
    'intelligent-tiering',
    'ListIntelligentTieringConfigurationsResult',
    sdk(ListBucketIntelligentTieringConfigurationsCommand, input, empty),
  ),
)
wireTests(
  'GetBucketIntelligentTieringConfiguration',
  read('intelligent-tiering', sdk(GetBucketIntelligentTieringConfigurationCommand, one)),
)
wireTests(
  'DeleteBucketIntelligentTieringConfiguration',
  removed('intelligent-tiering', sdk(DeleteBucketIntelligentTieringConfigurationCommand, one)),
)
wireTests(
  'ListBucketInventoryConfigurations',
  listed('inventory', 'ListInventoryConfigurationsResult', sdk(ListBucketInventoryConfigurationsCommand, input, empty)),
)
wireTests('GetBucketInventoryConfiguration', read('inventory', sdk(GetBucketInventoryConfigurationCommand, one)))
wireTests(
  'DeleteBucketInventoryConfiguration',
  removed('inventory', sdk(DeleteBucketInventoryConfigurationCommand, one)),
)
wireTests(
  'ListBucketMetricsConfigurations',
  listed('metrics', 'ListMetricsConfigurationsResult', sdk(ListBucketMetricsConfigurationsCommand, input, empty)),
)
wireTests('GetBucketMetricsConfiguration', read('metrics', sdk(GetBucketMetricsConfigurationCommand, one)))
wireTests('DeleteBucketMetricsConfiguration', removed('metrics', sdk(DeleteBucketMetricsConfigurationCommand, one)))
