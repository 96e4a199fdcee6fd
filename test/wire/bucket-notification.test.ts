/** Which events of a bucket go to which webhooks, over the wire: set, shown, turned off. What is told then: test/jobs/events. */
import {
  GetBucketNotificationConfigurationCommand,
  PutBucketNotificationConfigurationCommand,
  type QueueConfiguration,
} from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import type { Wire } from '../support/wire-client.ts'
import { documentRows, putDocument } from '../support/wire-documents.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { webhookName } from '../support/wire-server.ts'
import { ownerRows } from '../support/wire-versions.ts'

const Bucket = 'wire'
const get = { method: 'GET', query: { notification: '' } } as const
const arn = `arn:aws:sqs:us-east-1:123456789012:${webhookName}`
const minioArn = `arn:minio:sqs::${webhookName}:webhook`

const document = (...rules: string[]) =>
  `<NotificationConfiguration>${rules.map((rule) => `<QueueConfiguration>${rule}</QueueConfiguration>`).join('')}</NotificationConfiguration>`
const putRules = (...rules: string[]) => putDocument({ notification: '' }, document(...rules))

const to = (queue: string, event: string, more = '') => `${more}<Queue>${queue}</Queue><Event>${event}</Event>`
const filter = (...rules: [name: string, value: string][]) =>
  `<Filter><S3Key>${rules.map(([name, value]) => `<FilterRule><Name>${name}</Name><Value>${value}</Value></FilterRule>`).join('')}</S3Key></Filter>`
const small = to(arn, 's3:ObjectRemoved:*', '<Id>small</Id>')
const full = [
  `<Id>pictures</Id><Queue>${arn}</Queue><Event>s3:ObjectCreated:Put</Event><Event>s3:ObjectCreated:Copy</Event>${filter(['prefix', 'in/'], ['suffix', '.jpg'])}`,
  small,
  to(minioArn, 's3:ObjectCreated:CompleteMultipartUpload', '<Id>uploads</Id>'),
]
const fullOfSdk: QueueConfiguration[] = [
  {
    Id: 'pictures',
    QueueArn: arn,
    Events: ['s3:ObjectCreated:Put', 's3:ObjectCreated:Copy'],
    Filter: {
      Key: {
        FilterRules: [
          { Name: 'prefix', Value: 'in/' },
          { Name: 'suffix', Value: '.jpg' },
        ],
      },
    },
  },
  { Id: 'small', QueueArn: arn, Events: ['s3:ObjectRemoved:*'] },
  { Id: 'uploads', QueueArn: minioArn, Events: ['s3:ObjectCreated:CompleteMultipartUpload'] },
]

const given =
  (...rules: string[]) =>
  async (wire: Wire): Promise<void> => {
    await wire.must(putRules(...rules))
  }
/** The ids of the rules, in order. */
const idsAre =
  (...ids: string[]) =>
  async (wire: Wire): Promise<void> => {
    const { body } = await wire.ask(get)
    expect([...body.toString().matchAll(/<Id>(.*?)</g)].map(([, id]) => id)).toEqual(ids)
  }

const created = (more = '', id = 'a') => `${to(arn, 's3:ObjectCreated:*', `<Id>${id}</Id>`)}${more}`
type Wrong = [what: string, code: 'MalformedXML' | 'InvalidArgument', rules: string[]]
const wrong: readonly Wrong[] = [
  ['a rule without a queue', 'MalformedXML', ['<Event>s3:ObjectCreated:*</Event>']],
  ['a rule without events', 'InvalidArgument', [`<Queue>${arn}</Queue>`]],
  ['an event that S3 does not know', 'InvalidArgument', [to(arn, 's3:ObjectLost:*')]],
  ['an event without its service', 'InvalidArgument', [to(arn, 'ObjectCreated:*')]],
  ['all events', 'InvalidArgument', [to(arn, 's3:*')]],
  ['a star within a name', 'InvalidArgument', [to(arn, 's3:ObjectCreated:P*')]],
  ['what is no ARN', 'InvalidArgument', [to('primary', 's3:ObjectCreated:*')]],
  ['the ARN of a topic', 'InvalidArgument', [to(arn.replace('sqs', 'sns'), 's3:ObjectCreated:*')]],
  ['a webhook that there is not', 'InvalidArgument', [to(`${arn}s`, 's3:ObjectCreated:*')]],
  [
    'another kind of target of MinIO',
    'InvalidArgument',
    [to(minioArn.replace(/webhook$/, 'kafka'), 's3:ObjectCreated:*')],
  ],
  ['a filter by what is no part of a key', 'InvalidArgument', [created(filter(['infix', 'a']))]],
  ['two prefixes', 'InvalidArgument', [created(filter(['prefix', 'a'], ['Prefix', 'b']))]],
  ['a prefix that no key can have', 'InvalidArgument', [created(filter(['prefix', 'p'.repeat(1025)]))]],
  ['two rules of one Id', 'InvalidArgument', [created(), small.replace('small', 'a')]],
  ['a long Id', 'InvalidArgument', [created('', 'i'.repeat(256))]],
  ['two rules for the same events', 'InvalidArgument', [created(), created('', 'b')]],
  [
    'two rules for the same events of some keys',
    'InvalidArgument',
    [created(filter(['prefix', 'a'])), created(filter(['prefix', 'ab']), 'b')],
  ],
  [
    'rules that share what a star stands for',
    'InvalidArgument',
    [created(), to(arn, 's3:ObjectCreated:Put', '<Id>b</Id>')],
  ],
  ['101 rules', 'InvalidArgument', Array.from({ length: 101 }, (_, i) => created(filter(['prefix', `${i}/`]), `${i}`))],
]

const elements = ['Id', 'Queue', 'Event', 'Filter/S3Key/FilterRule/Name', 'Filter/S3Key/FilterRule/Value'].map(
  (name) => `element:NotificationConfiguration/QueueConfiguration/${name}`,
)

const refusedElement = (name: string): Row => ({
  it: `refuses ${name} by its name`,
  ...refusal('NotImplemented', { NotImplemented: `NotificationConfiguration/${name}` }),
  given: given(small),
  ask: putDocument({ notification: '' }, `<NotificationConfiguration><${name}/></NotificationConfiguration>`),
  afterwards: idsAre('small'),
})

wireTests('PutBucketNotificationConfiguration', [
  {
    it: 'sets rules',
    status: 200,
    ask: putRules(...full),
    proves: elements,
    vendor: {},
    body: '',
    afterwards: idsAre('pictures', 'small', 'uploads'),
    sdk: sdk(PutBucketNotificationConfigurationCommand, {
      Bucket,
      NotificationConfiguration: { QueueConfigurations: fullOfSdk },
    }),
  },
  {
    it: 'replaces all rules',
    status: 200,
    given: given(...full),
    ask: putRules(small),
    afterwards: idsAre('small'),
  },
  {
    it: 'turns them off',
    status: 200,
    given: given(...full),
    ask: putRules(),
    proves: ['element:NotificationConfiguration'],
    afterwards: idsAre(),
    sdk: sdk(PutBucketNotificationConfigurationCommand, { Bucket, NotificationConfiguration: {} }),
  },
  {
    it: 'names a rule that has no Id',
    status: 200,
    ask: putRules(to(arn, 's3:ObjectCreated:*')),
    afterwards: async (wire) => {
      const { body } = await wire.ask(get)
      expect(body.toString()).toMatch(/<Id>[0-9a-f]{32}</)
    },
  },
  {
    it: 'takes events that never happen here',
    status: 200,
    ask: putRules(to(arn, 's3:ObjectRestore:*', '<Id>r</Id>')),
    afterwards: idsAre('r'),
  },
  {
    it: 'takes an event that is named twice once',
    status: 200,
    ask: putRules(`${small}<Event>s3:ObjectRemoved:*</Event>`),
    afterwards: async (wire) => {
      const { body } = await wire.ask(get)
      expect(body.toString().match(/<Event>/g)).toHaveLength(1)
    },
  },
  {
    it: 'takes the same events of other keys',
    status: 200,
    ask: putRules(
      created(filter(['prefix', 'a'], ['suffix', '.jpg'])),
      created(filter(['prefix', 'a'], ['suffix', '.png']), 'b'),
      created(filter(['prefix', 'b']), 'c'),
    ),
    afterwards: idsAre('a', 'b', 'c'),
  },
  {
    it: 'takes 100 rules',
    status: 200,
    ask: putRules(...Array.from({ length: 100 }, (_, i) => created(filter(['prefix', `${i}/`]), `${i}`))),
  },
  {
    it: 'takes rules whose webhooks are to hear nothing of it',
    proves: ['vendor:skip-destination-validation'],
    status: 200,
    ask: { ...putRules(small), vendor: { 'skip-destination-validation': 'true' } },
    afterwards: idsAre('small'),
  },
  {
    it: 'refuses a webhook that there is not, also where nothing is to be validated',
    ...refusal('InvalidArgument'),
    given: given(small),
    ask: { ...putRules(to(`${arn}s`, 's3:ObjectCreated:*')), vendor: { 'skip-destination-validation': 'true' } },
    afterwards: idsAre('small'),
  },
  {
    it: 'refuses to validate destinations maybe',
    proves: ['vendor:skip-destination-validation'],
    ...refusal('InvalidArgument'),
    ask: { ...putRules(small), vendor: { 'skip-destination-validation': 'maybe' } },
  },
  ...wrong.map(
    ([what, code, rules]): Row => ({
      it: `refuses ${what}`,
      ...refusal(code),
      given: given(small),
      ask: putRules(...rules),
      afterwards: idsAre('small'),
    }),
  ),
  ...['TopicConfiguration', 'CloudFunctionConfiguration', 'EventBridgeConfiguration'].map(refusedElement),
  ...documentRows(putRules(small), given(small), idsAre('small'), { digestRequired: false }),
  ...ownerRows(putRules(small)),
])

wireTests('GetBucketNotificationConfiguration', [
  {
    it: 'says that there are none',
    status: 200,
    ask: get,
    vendor: {},
    xml: { NotificationConfiguration: '' },
    sdk: sdk(GetBucketNotificationConfigurationCommand, { Bucket }, { QueueConfigurations: undefined }),
  },
  {
    it: 'shows what was set, in its order',
    status: 200,
    given: given(...full),
    ask: get,
    vendor: {},
    xml: {
      NotificationConfiguration: {
        QueueConfiguration: [
          {
            Id: 'pictures',
            Queue: arn,
            Event: ['s3:ObjectCreated:Put', 's3:ObjectCreated:Copy'],
            Filter: {
              S3Key: {
                FilterRule: [
                  { Name: 'prefix', Value: 'in/' },
                  { Name: 'suffix', Value: '.jpg' },
                ],
              },
            },
          },
          { Id: 'small', Queue: arn, Event: 's3:ObjectRemoved:*' },
          { Id: 'uploads', Queue: minioArn, Event: 's3:ObjectCreated:CompleteMultipartUpload' },
        ],
      },
    },
    sdk: sdk(GetBucketNotificationConfigurationCommand, { Bucket }, { QueueConfigurations: fullOfSdk }),
  },
  ...ownerRows(get),
])
