import { query } from '../../contract/fields.ts'
import { requestCharged } from '../../contract/groups.ts'
import { boolean, integer, optional, string, struct } from '../../contract/shapes.ts'
import { type Parser, text } from '../../contract/values.ts'
import { listObjects } from '../../objects/list-objects.ts'
import { type PageStart, startBehind } from '../../rules/listing.ts'
import { defineOperation } from '../context.ts'
import { restoreStatusIn } from '../objects/restore-status.ts'
import {
  commonPrefixesShape,
  contentsOf,
  contentsShape,
  listingInputs,
  ownersIn,
  pageSize,
  textEncoder,
} from './object-listing.ts'
import { pageToken, readPageToken } from './page-token.ts'

/** S3 takes anything but `true`, written so, for no. */
const exactlyTrue: Parser<boolean> = (raw) => raw === 'true'

export const listObjectsV2Operation = defineOperation({
  name: 'ListObjectsV2',
  method: 'GET',
  target: 'bucket',
  query: ['list-type=2'],
  permission: 's3:ListBucket',
  summary: 'Lists keys in UTF-8 byte order, up to 1,000 a page, grouped by delimiter.',
  input: {
    continuationToken: query('continuation-token', text),
    startAfter: query('start-after', text),
    fetchOwner: query('fetch-owner', exactlyTrue),
    ...listingInputs,
  },
  output: requestCharged,
  outputBody: {
    kind: 'xml',
    root: 'ListBucketResult',
    shape: struct({
      Name: string,
      Prefix: string,
      Delimiter: optional(string),
      MaxKeys: integer,
      KeyCount: integer,
      IsTruncated: boolean,
      ContinuationToken: optional(string),
      NextContinuationToken: optional(string),
      StartAfter: optional(string),
      EncodingType: optional(string),
      Contents: contentsShape,
      CommonPrefixes: commonPrefixesShape,
    }),
  },
  errors: ['NoSuchBucket', 'InvalidArgument'],

  async handle(context, input) {
    const { backend, scope, bucket } = context
    const { prefix = '', delimiter = '' } = input
    const max = pageSize(input.maxKeys)
    const { bucket: record, page } = await listObjects(backend, scope, {
      prefix,
      delimiter,
      max,
      start: startOf(input, { prefix, delimiter }),
      owners: input.fetchOwner === true,
    })
    const encode = textEncoder(input.encodingType)
    return {
      body: {
        Name: bucket,
        Prefix: encode(prefix),
        Delimiter: delimiter === '' ? undefined : encode(delimiter),
        MaxKeys: max,
        KeyCount: page.entries.length + page.groups.length,
        IsTruncated: page.next !== undefined,
        ContinuationToken: input.continuationToken,
        NextContinuationToken: page.next === undefined ? undefined : pageToken(page.next),
        StartAfter: input.startAfter === undefined ? undefined : encode(input.startAfter),
        EncodingType: input.encodingType,
        Contents: contentsOf(
          page.entries,
          encode,
          input.fetchOwner === true ? ownersIn(context, record) : undefined,
          restoreStatusIn(input.optionalObjectAttributes),
        ),
        CommonPrefixes: page.groups.map((group) => ({ Prefix: encode(group) })),
      },
    }
  },
})

/** A continuation token takes precedence over `start-after`, which clients repeat with every page. */
function startOf(
  { continuationToken, startAfter = '' }: { continuationToken?: string | undefined; startAfter?: string | undefined },
  grouping: { prefix: string; delimiter: string },
): PageStart | undefined {
  if (continuationToken !== undefined) return readPageToken(continuationToken)
  return startAfter === '' ? undefined : startBehind(startAfter, grouping)
}
