/** Lists, reads and removals of the configurations that a bucket may have many of, each with an id, and here has none of. */
import { query, required } from '../contract/fields.ts'
import { absentElement, boolean, struct } from '../contract/shapes.ts'
import { type Parser, text } from '../contract/values.ts'
import { invalidArgument } from '../errors.ts'
import { answersAlways, findsNothing } from './unconfigured-bucket.ts'

/** A list that is empty never gave out a token. */
const noToken: Parser<never> = (raw, name) => {
  throw invalidArgument(name, raw, 'The continuation token provided is incorrect')
}

// The roots are those that S3 sends, which its documentation calls by other names.
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
