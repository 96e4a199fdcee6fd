/** Configurations that are the same for every bucket, over the wire: what is read, which writes are accepted, and which are refused by name. */
import {
  GetBucketAbacCommand,
  GetBucketAccelerateConfigurationCommand,
  GetBucketRequestPaymentCommand,
  PutBucketAccelerateConfigurationCommand,
  PutBucketRequestPaymentCommand,
} from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import type { Wire } from '../support/wire-client.ts'
import { documentRows, putDocument } from '../support/wire-documents.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { type SdkCall, sdk } from '../support/wire-sdk.ts'
import { ownerRows } from '../support/wire-versions.ts'
import { readXml } from '../support/wire-xml.ts'

const Bucket = 'wire'

interface Configuration {
  subResource: string
  root: string
  /** What every bucket answers. */
  holds: unknown
}

/** `absent`: an element of the answer that would say otherwise. */
function reads({ subResource, root, holds }: Configuration, call: SdkCall, ...absent: string[]): Row[] {
  const ask = { method: 'GET', query: { [subResource]: '' } } as const
  return [
    {
      it: 'answers what holds for every bucket',
      proves: [...absent.map((name) => `answer element:${root}/${name}`)],
      status: 200,
      ask,
      headers: { 'Content-Type': 'application/xml' },
      vendor: {},
      xml: { [root]: holds },
      sdk: call,
    },
    ...ownerRows(ask),
  ]
}

/** Accepted is only the document `same`; of `refused`, each is a document, and what of it is refused by name. */
function writes(
  { subResource, root, holds }: Configuration,
  same: string,
  call: SdkCall,
  refused: readonly [document: string, name: string, call?: SdkCall][],
): Row[] {
  const query = { [subResource]: '' }
  const put = (inner: string) => putDocument(query, `<${root}>${inner}</${root}>`)
  const ask = put(same)
  const unchanged = async (wire: Wire): Promise<void> => {
    expect(readXml((await wire.must({ method: 'GET', query })).body).value).toEqual(holds)
  }
  return [
    {
      it: 'accepts what holds anyway',
      proves: [...(same === '' ? [`element:${root}`] : [])],
      status: 200,
      ask,
      vendor: {},
      body: '',
      afterwards: unchanged,
      sdk: call,
    },
    ...refused.map(
      ([document, name, refusedCall]): Row => ({
        it: `refuses ${name} by name: ${document}`,
        proves: [...(name.includes('=') ? [`element:${root}/${name.split('=')[0]}`] : [])],
        ...refusal('NotImplemented', { NotImplemented: `${root}/${name}` }),
        ask: put(document),
        afterwards: unchanged,
        ...(refusedCall === undefined ? {} : { sdk: refusedCall }),
      }),
    ),
    ...documentRows(ask, undefined, unchanged, { digestRequired: false }),
    ...ownerRows(ask),
  ]
}

const malformed = ({ subResource, root }: Configuration, ...documents: string[]): Row[] =>
  documents.map((document) => ({
    it: `refuses as malformed: ${document}`,
    ...refusal('MalformedXML'),
    ask: putDocument({ [subResource]: '' }, `<${root}>${document}</${root}>`),
  }))

const acceleration = { subResource: 'accelerate', root: 'AccelerateConfiguration', holds: '' }
wireTests(
  'GetBucketAccelerateConfiguration',
  reads(acceleration, sdk(GetBucketAccelerateConfigurationCommand, { Bucket }, { Status: undefined }), 'Status'),
)
wireTests('PutBucketAccelerateConfiguration', [
  ...writes(
    acceleration,
    '<Status>Suspended</Status>',
    sdk(PutBucketAccelerateConfigurationCommand, { Bucket, AccelerateConfiguration: { Status: 'Suspended' } }),
    [
      [
        '<Status>Enabled</Status>',
        'Status=Enabled',
        sdk(PutBucketAccelerateConfigurationCommand, { Bucket, AccelerateConfiguration: { Status: 'Enabled' } }),
      ],
    ],
  ),
  ...malformed(acceleration, '', '<Status/>', '<Status>suspended</Status>'),
])

const payment = {
  subResource: 'requestPayment',
  root: 'RequestPaymentConfiguration',
  holds: { Payer: 'BucketOwner' },
}
wireTests(
  'GetBucketRequestPayment',
  reads(payment, sdk(GetBucketRequestPaymentCommand, { Bucket }, { Payer: 'BucketOwner' })),
)
wireTests('PutBucketRequestPayment', [
  ...writes(
    payment,
    '<Payer>BucketOwner</Payer>',
    sdk(PutBucketRequestPaymentCommand, { Bucket, RequestPaymentConfiguration: { Payer: 'BucketOwner' } }),
    [
      [
        '<Payer>Requester</Payer>',
        'Payer=Requester',
        sdk(PutBucketRequestPaymentCommand, { Bucket, RequestPaymentConfiguration: { Payer: 'Requester' } }),
      ],
    ],
  ),
  ...malformed(payment, '', '<Payer>Nobody</Payer>'),
])

wireTests(
  'GetBucketAbac',
  reads(
    { subResource: 'abac', root: 'AbacStatus', holds: { Status: 'Disabled' } },
    sdk(GetBucketAbacCommand, { Bucket }, { AbacStatus: { Status: 'Disabled' } }),
  ),
)
