/** To which bucket a bucket's access log is written, over the wire: set, shown, turned off. What the log says: test/library/access-logs.test.ts */
import { type BucketLoggingStatus, GetBucketLoggingCommand, PutBucketLoggingCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import type { Wire } from '../support/wire-client.ts'
import { documentRows, putDocument } from '../support/wire-documents.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { ownerRows } from '../support/wire-versions.ts'

const Bucket = 'wire'
const get = { method: 'GET', query: { logging: '' } } as const
const root = 'BucketLoggingStatus'
const put = (enabled: string) =>
  putDocument(
    { logging: '' },
    `<${root}>${enabled === '' ? '' : `<LoggingEnabled>${enabled}</LoggingEnabled>`}</${root}>`,
  )
/** The bucket logs to itself, which keeps the rows short. */
const to = (more = '', prefix = 'log/', bucket = Bucket) =>
  `<TargetBucket>${bucket}</TargetBucket><TargetPrefix>${prefix}</TargetPrefix>${more}`
const format = (inside: string) => to(`<TargetObjectKeyFormat>${inside}</TargetObjectKeyFormat>`)
const partitioned = (source: string) =>
  format(`<PartitionedPrefix><PartitionDateSource>${source}</PartitionDateSource></PartitionedPrefix>`)

const given =
  (enabled: string) =>
  async (wire: Wire): Promise<void> => {
    await wire.must(put(enabled))
  }
const shows =
  (...texts: string[]) =>
  async (wire: Wire): Promise<void> => {
    const { body } = await wire.ask(get)
    for (const text of texts) expect(body.toString()).toContain(text)
  }
const isOff = async (wire: Wire): Promise<void> => {
  const { body } = await wire.ask(get)
  expect(body.toString()).not.toContain('LoggingEnabled')
}
const stays = shows('<TargetPrefix>log/</TargetPrefix>')
const status = (more: object = {}): BucketLoggingStatus => ({
  LoggingEnabled: { TargetBucket: Bucket, TargetPrefix: 'log/', ...more },
})
const element = (name: string) => `element:${root}/LoggingEnabled/${name}`

const wrong: readonly [
  what: string,
  code: 'MalformedXML' | 'InvalidTargetBucketForLogging' | 'KeyTooLongError',
  enabled: string,
][] = [
  ['a target that there is not', 'InvalidTargetBucketForLogging', to('', 'other/', 'wire-none')],
  ['a target with a name that no bucket can have', 'InvalidTargetBucketForLogging', to('', 'other/', 'b'.repeat(2000))],
  ['a target without a name', 'InvalidTargetBucketForLogging', to('', 'other/', '')],
  ['no target', 'MalformedXML', '<TargetPrefix>other/</TargetPrefix>'],
  ['no prefix', 'MalformedXML', `<TargetBucket>${Bucket}</TargetBucket>`],
  ['a prefix that leaves no room for keys', 'KeyTooLongError', to('', 'p'.repeat(1000))],
  ['a form of keys that says nothing', 'MalformedXML', format('')],
  ['two forms of keys', 'MalformedXML', format('<SimplePrefix/><PartitionedPrefix/>')],
  ['a date that S3 does not know', 'MalformedXML', partitioned('Now')],
]

wireTests('PutBucketLogging', [
  {
    it: 'sets the target',
    status: 200,
    ask: put(to()),
    proves: [`element:${root}`, `element:${root}/LoggingEnabled`, element('TargetBucket'), element('TargetPrefix')],
    vendor: {},
    body: '',
    afterwards: shows('<TargetBucket>wire</TargetBucket><TargetPrefix>log/</TargetPrefix></LoggingEnabled>'),
    sdk: sdk(PutBucketLoggingCommand, { Bucket, BucketLoggingStatus: status() }),
  },
  {
    it: 'takes an empty prefix',
    status: 200,
    ask: put(to('', '')),
    afterwards: shows('<TargetPrefix></TargetPrefix>'),
  },
  {
    it: 'takes keys that begin with the time',
    status: 200,
    ask: put(format('<SimplePrefix/>')),
    proves: [element('TargetObjectKeyFormat'), element('TargetObjectKeyFormat/SimplePrefix')],
    afterwards: shows('<TargetObjectKeyFormat><SimplePrefix>'),
    sdk: sdk(PutBucketLoggingCommand, {
      Bucket,
      BucketLoggingStatus: status({ TargetObjectKeyFormat: { SimplePrefix: {} } }),
    }),
  },
  ...['EventTime', 'DeliveryTime'].map(
    (source): Row => ({
      it: `takes keys that tell the day of the ${source}`,
      status: 200,
      ask: put(partitioned(source)),
      proves: [
        element('TargetObjectKeyFormat/PartitionedPrefix'),
        element('TargetObjectKeyFormat/PartitionedPrefix/PartitionDateSource'),
      ],
      afterwards: shows(`<PartitionDateSource>${source}</PartitionDateSource>`),
    }),
  ),
  {
    it: 'takes keys that tell a day without saying which',
    status: 200,
    ask: put(format('<PartitionedPrefix/>')),
    afterwards: shows('<TargetObjectKeyFormat><PartitionedPrefix>'),
  },
  {
    it: 'turns the log off',
    status: 200,
    given: given(to()),
    ask: put(''),
    afterwards: isOff,
    sdk: sdk(PutBucketLoggingCommand, { Bucket, BucketLoggingStatus: {} }),
  },
  {
    it: 'refuses grants on its objects by name',
    ...refusal('NotImplemented', { NotImplemented: `${root}/LoggingEnabled/TargetGrants` }),
    given: given(to()),
    ask: put(to('<TargetGrants></TargetGrants>', 'other/')),
    afterwards: stays,
  },
  ...wrong.map(
    ([what, code, enabled]): Row => ({
      it: `refuses ${what}`,
      ...refusal(code),
      given: given(to()),
      ask: put(enabled),
      afterwards: stays,
    }),
  ),
  ...documentRows(put(to('', 'other/')), given(to()), stays, { digestRequired: false }),
  ...ownerRows(put(to())),
])

wireTests('GetBucketLogging', [
  {
    it: 'says that there is no log',
    status: 200,
    ask: get,
    vendor: {},
    xml: { [root]: '' },
    sdk: sdk(GetBucketLoggingCommand, { Bucket }, { LoggingEnabled: undefined }),
  },
  {
    it: 'shows what was set',
    status: 200,
    given: given(partitioned('EventTime')),
    ask: get,
    vendor: {},
    xml: {
      [root]: {
        LoggingEnabled: {
          TargetBucket: Bucket,
          TargetPrefix: 'log/',
          TargetObjectKeyFormat: { PartitionedPrefix: { PartitionDateSource: 'EventTime' } },
        },
      },
    },
    sdk: sdk(
      GetBucketLoggingCommand,
      { Bucket },
      status({ TargetObjectKeyFormat: { PartitionedPrefix: { PartitionDateSource: 'EventTime' } } }),
    ),
  },
  {
    it: 'shows that keys begin with the time where that was set',
    status: 200,
    given: given(format('<SimplePrefix/>')),
    ask: get,
    xml: {
      [root]: {
        LoggingEnabled: {
          TargetBucket: Bucket,
          TargetPrefix: 'log/',
          TargetObjectKeyFormat: { SimplePrefix: '' },
        },
      },
    },
  },
  ...ownerRows(get),
])
