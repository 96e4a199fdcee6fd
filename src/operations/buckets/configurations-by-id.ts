/** Lists, reads and removals of configurations that S3 stores by id, many per bucket. No bucket here has any. */
import { query, required } from '../../contract/fields.ts'
import { absentElement, boolean, struct } from '../../contract/shapes.ts'
import { type Parser, text } from '../../contract/values.ts'
import { invalidArgument } from '../../errors.ts'
import { answersAlways, findsNothing } from './unconfigured-bucket.ts'

/** The lists are always empty, so they never return a token. */
const noToken: Parser<never> = (raw, name) => {
  throw invalidArgument(name, raw, 'The continuation token provided is incorrect')
}

// The roots are the ones that S3 sends. Its documentation has other names for them.
const rows = [
  { kind: 'Analytics', subResource: 'analytics', root: 'ListBucketAnalyticsConfigurationsResult' },
  {
    kind: 'IntelligentTiering',
    subResource: 'intelligent-tiering',
    root: 'ListIntelligentTieringConfigurationsResult',
  },
  { kind: 'Inventory', subResource: 'inventory', root: 'ListInventoryConfigurationsResult' },
  { kind: 'Metrics', subResource: 'metrics', root: 'ListMetricsConfigurationsResult' },
] as const

export const configurationsById = rows.flatMap(({ kind, subResource, root }) => {
  const get = `s3:Get${kind}Configuration`
  return [
    answersAlways(
      {
        name: `ListBucket${kind}Configurations`,
        query: [subResource],
        permission: get,
        summary: `Returns an empty list of ${subResource} configurations.`,
        input: { continuationToken: query('continuation-token', noToken) },
        errors: ['InvalidArgument'],
      },
      root,
      struct({
        ContinuationToken: absentElement('a page was asked for, which is refused'),
        [`${kind}Configuration`]: absentElement('the bucket has one'),
        IsTruncated: boolean,
        NextContinuationToken: absentElement('there are more'),
      }),
      { IsTruncated: false },
    ),
    findsNothing(
      'GET',
      {
        name: `GetBucket${kind}Configuration`,
        query: [subResource, 'id'],
        permission: get,
        summary: `Says that there is no such ${subResource} configuration.`,
      },
      'NoSuchConfiguration',
    ),
    findsNothing(
      'DELETE',
      {
        name: `DeleteBucket${kind}Configuration`,
        query: [subResource],
        permission: `s3:Put${kind}Configuration`,
        summary: `Says that there is no such ${subResource} configuration.`,
        input: { id: required(query('id', text)) },
        errors: ['InvalidArgument'],
      },
      'NoSuchConfiguration',
    ),
  ]
})
