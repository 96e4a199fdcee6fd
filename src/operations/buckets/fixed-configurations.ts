/** Configurations with one fixed value for every bucket: reads return it, and writes accept nothing else. */
import { requestCharged } from '../../contract/groups.ts'
import { oneOf, optional, struct } from '../../contract/shapes.ts'
import { notImplemented, S3Error } from '../../errors.ts'
import { acceptsOnly, answersAlways } from './unconfigured-bucket.ts'

const acceleration = struct({ Status: optional(oneOf('Enabled', 'Suspended')) })
const payment = struct({ Payer: oneOf('BucketOwner', 'Requester') })

export const fixedConfigurations = [
  answersAlways(
    {
      name: 'GetBucketAccelerateConfiguration',
      query: ['accelerate'],
      permission: 's3:GetAccelerateConfiguration',
      summary: 'Returns an empty configuration: transfers are never accelerated.',
      output: requestCharged,
    },
    'AccelerateConfiguration',
    acceleration,
    {},
  ),
  acceptsOnly(
    {
      name: 'PutBucketAccelerateConfiguration',
      query: ['accelerate'],
      permission: 's3:PutAccelerateConfiguration',
      summary: 'Accepts that acceleration is suspended; refuses to enable it.',
    },
    'AccelerateConfiguration',
    acceleration,
    ({ Status }) => {
      if (Status === undefined) throw new S3Error('MalformedXML')
      if (Status === 'Enabled') throw notImplemented('AccelerateConfiguration/Status=Enabled')
    },
  ),
  answersAlways(
    {
      name: 'GetBucketRequestPayment',
      query: ['requestPayment'],
      permission: 's3:GetBucketRequestPayment',
      summary: 'Says that the owner of the bucket pays.',
    },
    'RequestPaymentConfiguration',
    payment,
    { Payer: 'BucketOwner' },
  ),
  acceptsOnly(
    {
      name: 'PutBucketRequestPayment',
      query: ['requestPayment'],
      permission: 's3:PutBucketRequestPayment',
      summary: 'Accepts that the owner of the bucket pays; refuses to make requesters pay.',
    },
    'RequestPaymentConfiguration',
    payment,
    ({ Payer }) => {
      if (Payer === 'Requester') throw notImplemented('RequestPaymentConfiguration/Payer=Requester')
    },
  ),
  answersAlways(
    {
      name: 'GetBucketAbac',
      query: ['abac'],
      permission: 's3:GetBucketAbac',
      summary: 'Says that tags of the bucket grant no access.',
    },
    'AbacStatus',
    struct({ Status: oneOf('Enabled', 'Disabled') }),
    { Status: 'Disabled' },
  ),
]
