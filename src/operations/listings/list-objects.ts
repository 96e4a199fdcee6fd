import { query } from '../../contract/fields.ts'
import { requestCharged } from '../../contract/groups.ts'
import { boolean, integer, optional, string, struct } from '../../contract/shapes.ts'
import { text } from '../../contract/values.ts'
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

export const listObjectsOperation = defineOperation({
  name: 'ListObjects',
  method: 'GET',
  target: 'bucket',
  permission: 's3:ListBucket',
  summary: 'Lists keys by the older API: each page continues after a marker.',
  input: { marker: query('marker', text), ...listingInputs },
  output: requestCharged,
  outputBody: {
    kind: 'xml',
    root: 'ListBucketResult',
    shape: struct({
      Name: string,
      Prefix: string,
      Marker: string,
      NextMarker: optional(string),
      MaxKeys: integer,
      Delimiter: optional(string),
      IsTruncated: boolean,
      EncodingType: optional(string),
      Contents: contentsShape,
      CommonPrefixes: commonPrefixesShape,
    }),
  },
  errors: ['NoSuchBucket', 'InvalidArgument'],

  async handle(context, input) {
    const { backend, scope, bucket } = context
    const { prefix = '', delimiter = '', marker = '' } = input
    const max = pageSize(input.maxKeys)
    const { bucket: record, page } = await listObjects(backend, scope, {
      prefix,
      delimiter,
      max,
      start: marker === '' ? undefined : startBehind(marker, { prefix, delimiter }),
      owners: true,
    })
    const encode = textEncoder(input.encodingType)
    return {
      body: {
        Name: bucket,
        Prefix: encode(prefix),
        Marker: encode(marker),
        NextMarker: page.next === undefined ? undefined : encode(nextMarker(page.next)),
        MaxKeys: max,
        Delimiter: delimiter === '' ? undefined : encode(delimiter),
        IsTruncated: page.next !== undefined,
        EncodingType: input.encodingType,
        Contents: contentsOf(
          page.entries,
          encode,
          ownersIn(context, record),
          restoreStatusIn(input.optionalObjectAttributes),
        ),
        CommonPrefixes: page.groups.map((group) => ({ Prefix: encode(group) })),
      },
    }
  },
})

const nextMarker = (next: PageStart): string => ('afterKey' in next ? next.afterKey : next.afterGroup)
