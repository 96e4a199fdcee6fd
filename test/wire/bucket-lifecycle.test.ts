/** A bucket's lifecycle rules over the wire: set, shown, removed. What they do: test/jobs/lifecycle. */
import {
  DeleteBucketLifecycleCommand,
  GetBucketLifecycleConfigurationCommand,
  PutBucketLifecycleConfigurationCommand,
} from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import type { Wire } from '../support/wire-client.ts'
import { documentRows, putDocument } from '../support/wire-documents.ts'
import { lifecycleDocument, putLifecycle } from '../support/wire-lifecycle.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { ownerRows } from '../support/wire-versions.ts'

const Bucket = 'wire'
const get = { method: 'GET', query: { lifecycle: '' } } as const
const remove = { method: 'DELETE', query: { lifecycle: '' } } as const

const everything = '<Filter/><Status>Enabled</Status>'
const small = `<ID>small</ID>${everything}<Expiration><Days>1</Days></Expiration>`
const tag = (key: string, value = 'v') => `<Tag><Key>${key}</Key><Value>${value}</Value></Tag>`
const filtered = (filter: string, action = '<Expiration><Days>1</Days></Expiration>') =>
  `<ID>f</ID><Filter>${filter}</Filter><Status>Enabled</Status>${action}`
const abort =
  '<AbortIncompleteMultipartUpload><DaysAfterInitiation>7</DaysAfterInitiation></AbortIncompleteMultipartUpload>'
const markers = '<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>'
const full = [
  `<ID>all</ID><Filter><And><Prefix>logs/</Prefix>${tag('colour', 'blue')}${tag('kind', 'log')}<ObjectSizeGreaterThan>10</ObjectSizeGreaterThan><ObjectSizeLessThan>1000</ObjectSizeLessThan></And></Filter><Status>Enabled</Status><Expiration><Days>30</Days></Expiration><NoncurrentVersionExpiration><NoncurrentDays>5</NoncurrentDays><NewerNoncurrentVersions>3</NewerNoncurrentVersions></NoncurrentVersionExpiration>`,
  `<ID>old</ID><Prefix>tmp/</Prefix><Status>Disabled</Status><Expiration><Date>2030-01-01T00:00:00Z</Date></Expiration>${abort}`,
  filtered(tag('colour')),
  filtered('<ObjectSizeGreaterThan>5</ObjectSizeGreaterThan>').replace('<ID>f<', '<ID>greater<'),
  filtered('<ObjectSizeLessThan>5</ObjectSizeLessThan>').replace('<ID>f<', '<ID>less<'),
  filtered('<Prefix>p</Prefix>', markers).replace('<ID>f<', '<ID>markers<'),
]
const fullOfSdk = [
  {
    ID: 'all',
    Filter: {
      And: {
        Prefix: 'logs/',
        Tags: [
          { Key: 'colour', Value: 'blue' },
          { Key: 'kind', Value: 'log' },
        ],
        ObjectSizeGreaterThan: 10,
        ObjectSizeLessThan: 1000,
      },
    },
    Status: 'Enabled' as const,
    Expiration: { Days: 30 },
    NoncurrentVersionExpiration: { NoncurrentDays: 5, NewerNoncurrentVersions: 3 },
  },
  {
    ID: 'old',
    Prefix: 'tmp/',
    Status: 'Disabled' as const,
    Expiration: { Date: new Date('2030-01-01T00:00:00Z') },
    AbortIncompleteMultipartUpload: { DaysAfterInitiation: 7 },
  },
]

const minimum = 'transition-default-minimum-object-size'
const usualMinimum = { [minimum]: 'all_storage_classes_128K' }
const otherMinimum = { [minimum]: 'varies_by_storage_class' }

const given =
  (...rules: string[]) =>
  async (wire: Wire): Promise<void> => {
    await wire.must(putLifecycle(...rules))
  }
/** The ids of the rules, in order. */
const idsAre =
  (...ids: string[]) =>
  async (wire: Wire): Promise<void> => {
    const { body } = await wire.ask(get)
    expect([...body.toString().matchAll(/<ID>(.*?)</g)].map(([, id]) => id)).toEqual(ids)
  }

const days = (text: string) => `<ID>f</ID>${everything}<Expiration><Days>${text}</Days></Expiration>`
type Wrong = [
  what: string,
  code: 'MalformedXML' | 'InvalidRequest' | 'InvalidArgument' | 'InvalidTag' | 'NotImplemented',
  rules: string[],
]
const wrong: readonly Wrong[] = [
  ['no rule', 'MalformedXML', []],
  ['an empty rule', 'MalformedXML', ['']],
  ['a rule without a status', 'MalformedXML', ['<Filter/><Expiration><Days>1</Days></Expiration>']],
  ['another status', 'MalformedXML', [small.replace('Enabled', 'enabled')]],
  ['neither prefix nor filter', 'MalformedXML', ['<Status>Enabled</Status><Expiration><Days>1</Days></Expiration>']],
  ['prefix and filter', 'MalformedXML', [`<Prefix>a</Prefix>${small}`]],
  ['a filter of two conditions', 'MalformedXML', [filtered(`<Prefix>a</Prefix>${tag('t')}`)]],
  ['an And of nothing', 'MalformedXML', [filtered('<And/>')]],
  ['an expiration of nothing', 'MalformedXML', [`${everything}<Expiration/>`]],
  ['an expiration of two kinds', 'MalformedXML', [days('1</Days><Date>2030-01-01T00:00:00Z</Date><Days>1')]],
  [
    'days and a date',
    'MalformedXML',
    [`${everything}<Expiration><Days>1</Days><Date>2030-01-01T00:00:00Z</Date></Expiration>`],
  ],
  ['a date that is none', 'MalformedXML', [`${everything}<Expiration><Date>20300101</Date></Expiration>`]],
  ['days that are not a number', 'MalformedXML', [days('soon')]],
  ['noncurrent versions of no condition', 'MalformedXML', [`${everything}<NoncurrentVersionExpiration/>`]],
  ['a rule that does nothing', 'InvalidRequest', [everything]],
  [
    'a count of noncurrent versions without a filter',
    'InvalidRequest',
    [
      '<Prefix>a</Prefix><Status>Enabled</Status><NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays><NewerNoncurrentVersions>1</NewerNoncurrentVersions></NoncurrentVersionExpiration>',
    ],
  ],
  ['1001 rules', 'InvalidRequest', Array.from({ length: 1001 }, (_, i) => small.replace('small', `${i}`))],
  ['two tags of one key', 'InvalidRequest', [filtered(`<And>${tag('t', '1')}${tag('t', '2')}</And>`)]],
  ['delete markers by tag', 'InvalidRequest', [filtered(tag('t'), markers)]],
  ['delete markers by size', 'InvalidRequest', [filtered('<ObjectSizeLessThan>5</ObjectSizeLessThan>', markers)]],
  ['uploads by tag', 'InvalidRequest', [filtered(tag('t'), abort)]],
  ['uploads by size', 'InvalidRequest', [filtered('<ObjectSizeGreaterThan>5</ObjectSizeGreaterThan>', abort)]],
  [
    'sizes of no object',
    'InvalidRequest',
    [filtered('<And><ObjectSizeGreaterThan>5</ObjectSizeGreaterThan><ObjectSizeLessThan>5</ObjectSizeLessThan></And>')],
  ],
  ['a negative size', 'InvalidRequest', [filtered('<ObjectSizeGreaterThan>-1</ObjectSizeGreaterThan>')]],
  ['a prefix that no key can have', 'InvalidRequest', [filtered(`<Prefix>${'p'.repeat(1025)}</Prefix>`)]],
  ['a tag without a key', 'InvalidRequest', [filtered(tag(''))]],
  ['a tag of a long value', 'InvalidRequest', [filtered(tag('t', 'v'.repeat(257)))]],
  ['no days', 'InvalidArgument', [days('0')]],
  ['negative days', 'InvalidArgument', [days('-1')]],
  ['days beyond 32 bits', 'MalformedXML', [days('2147483648')]],
  [
    'a date within a day',
    'InvalidArgument',
    [`${everything}<Expiration><Date>2030-01-01T01:00:00Z</Date></Expiration>`],
  ],
  [
    'no days of noncurrent versions',
    'InvalidArgument',
    [`${everything}<NoncurrentVersionExpiration><NoncurrentDays>0</NoncurrentDays></NoncurrentVersionExpiration>`],
  ],
  [
    'too many noncurrent versions',
    'InvalidArgument',
    [
      `${everything}<NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays><NewerNoncurrentVersions>101</NewerNoncurrentVersions></NoncurrentVersionExpiration>`,
    ],
  ],
  ['no days of uploads', 'InvalidArgument', [`${everything}${abort.replace('7', '0')}`]],
  ['two rules of one ID', 'InvalidArgument', [small, small]],
  ['a long ID', 'InvalidArgument', [small.replace('small', 'i'.repeat(256))]],
  [
    'a transition',
    'NotImplemented',
    [`${small}<Transition><Days>1</Days><StorageClass>GLACIER</StorageClass></Transition>`],
  ],
  [
    'a transition of noncurrent versions',
    'NotImplemented',
    [
      `${small}<NoncurrentVersionTransition><NoncurrentDays>1</NoncurrentDays><StorageClass>GLACIER</StorageClass></NoncurrentVersionTransition>`,
    ],
  ],
]

const elements = [
  'ID',
  'Prefix',
  'Status',
  ...['Prefix', 'Tag/Key', 'Tag/Value', 'ObjectSizeGreaterThan', 'ObjectSizeLessThan'].flatMap((name) => [
    `Filter/${name}`,
    `Filter/And/${name}`,
  ]),
  'Expiration/Date',
  'Expiration/Days',
  'Expiration/ExpiredObjectDeleteMarker',
  'NoncurrentVersionExpiration/NoncurrentDays',
  'NoncurrentVersionExpiration/NewerNoncurrentVersions',
  'AbortIncompleteMultipartUpload/DaysAfterInitiation',
].map((name) => `element:LifecycleConfiguration/Rule/${name}`)

const texts: readonly [what: string, rule: string, message: string][] = [
  ['a long prefix', filtered(`<Prefix>${'p'.repeat(1025)}</Prefix>`), 'The maximum size of a prefix is 1024'],
  ['a long key', filtered(tag('k'.repeat(129))), "A Tag's Key must be a length between 1 and 128."],
  ['a long value', filtered(tag('t', 'v'.repeat(257))), "A Tag's Value must be a length between 0 and 256."],
  [
    'sizes of no object',
    filtered('<And><ObjectSizeGreaterThan>5</ObjectSizeGreaterThan><ObjectSizeLessThan>5</ObjectSizeLessThan></And>'),
    "'ObjectSizeLessThan' has to be a value greater than 'ObjectSizeGreaterThan'.",
  ],
]

wireTests('PutBucketLifecycleConfiguration', [
  {
    it: 'sets rules',
    status: 200,
    ask: putLifecycle(...full),
    proves: elements,
    vendor: {},
    body: '',
    afterwards: idsAre('all', 'old', 'f', 'greater', 'less', 'markers'),
  },
  {
    it: 'sets what the SDK sends',
    status: 200,
    ask: putLifecycle(...full.slice(0, 2)),
    afterwards: idsAre('all', 'old'),
    sdk: sdk(PutBucketLifecycleConfigurationCommand, { Bucket, LifecycleConfiguration: { Rules: fullOfSdk } }),
  },
  {
    it: 'replaces all rules',
    status: 200,
    given: given(...full),
    ask: putLifecycle(small),
    afterwards: idsAre('small'),
  },
  {
    it: 'takes what is said of transitions, of which there are none',
    status: 200,
    ask: { ...putLifecycle(small), vendor: otherMinimum },
    proves: [`vendor:${minimum}`],
    vendor: otherMinimum,
  },
  {
    it: 'refuses another word about transitions',
    ...refusal('InvalidArgument'),
    given: given(small),
    ask: { ...putLifecycle(...full), vendor: { [minimum]: 'none' } },
    afterwards: idsAre('small'),
  },
  {
    it: 'names a rule that has no ID',
    status: 200,
    ask: putLifecycle(`${everything}<Expiration><Days>1</Days></Expiration>`),
    afterwards: async (wire) => {
      const { body } = await wire.ask(get)
      expect(body.toString()).toMatch(/<ID>[0-9a-f]{32}</)
    },
  },
  {
    it: 'takes 1000 rules',
    status: 200,
    ask: putLifecycle(...Array.from({ length: 1000 }, (_, i) => small.replace('small', `${i}`))),
  },
  {
    it: 'takes a number of versions without days',
    status: 200,
    ask: putLifecycle(
      `<ID>n</ID>${everything}<NoncurrentVersionExpiration><NewerNoncurrentVersions>2</NewerNoncurrentVersions></NoncurrentVersionExpiration>`,
    ),
    afterwards: idsAre('n'),
  },
  ...wrong.map(
    ([what, code, rules]): Row => ({
      it: `refuses ${what}`,
      ...refusal(code, code === 'InvalidRequest' ? {} : undefined),
      given: given(small),
      ask: putDocument({ lifecycle: '' }, lifecycleDocument(...rules)),
      afterwards: idsAre('small'),
    }),
  ),
  ...texts.map(
    ([what, rule, message]): Row => ({
      it: `says in S3's words what is wrong with ${what}`,
      ...refusal('InvalidRequest', {}),
      message,
      ask: putDocument({ lifecycle: '' }, lifecycleDocument(rule)),
    }),
  ),
  ...documentRows(putLifecycle(small), given(small), idsAre('small'), { digestRequired: true }),
  ...ownerRows(putLifecycle(small)),
])

wireTests('GetBucketLifecycleConfiguration', [
  {
    it: 'says that there is none',
    ...refusal('NoSuchLifecycleConfiguration', { BucketName: 'wire' }),
    ask: get,
    vendor: {},
    sdk: sdk(GetBucketLifecycleConfigurationCommand, { Bucket }),
  },
  {
    it: 'shows what was set, in the order and the form in which it came',
    status: 200,
    given: given(...full),
    ask: get,
    vendor: usualMinimum,
    xml: {
      LifecycleConfiguration: {
        Rule: [
          {
            ID: 'all',
            Filter: {
              And: {
                Prefix: 'logs/',
                Tag: [
                  { Key: 'colour', Value: 'blue' },
                  { Key: 'kind', Value: 'log' },
                ],
                ObjectSizeGreaterThan: '10',
                ObjectSizeLessThan: '1000',
              },
            },
            Status: 'Enabled',
            Expiration: { Days: '30' },
            NoncurrentVersionExpiration: { NoncurrentDays: '5', NewerNoncurrentVersions: '3' },
          },
          {
            ID: 'old',
            Prefix: 'tmp/',
            Status: 'Disabled',
            Expiration: { Date: '2030-01-01T00:00:00.000Z' },
            AbortIncompleteMultipartUpload: { DaysAfterInitiation: '7' },
          },
          { ID: 'f', Filter: { Tag: { Key: 'colour', Value: 'v' } }, Status: 'Enabled', Expiration: { Days: '1' } },
          { ID: 'greater', Filter: { ObjectSizeGreaterThan: '5' }, Status: 'Enabled', Expiration: { Days: '1' } },
          { ID: 'less', Filter: { ObjectSizeLessThan: '5' }, Status: 'Enabled', Expiration: { Days: '1' } },
          {
            ID: 'markers',
            Filter: { Prefix: 'p' },
            Status: 'Enabled',
            Expiration: { ExpiredObjectDeleteMarker: 'true' },
          },
        ],
      },
    },
  },
  {
    it: 'says what was said of transitions',
    status: 200,
    given: async (wire) => {
      await wire.must({ ...putLifecycle(small), vendor: otherMinimum })
    },
    ask: get,
    vendor: otherMinimum,
  },
  {
    it: 'shows them to the SDK',
    status: 200,
    vendor: usualMinimum,
    given: given(...full.slice(0, 2)),
    ask: get,
    sdk: sdk(GetBucketLifecycleConfigurationCommand, { Bucket }, { Rules: fullOfSdk }),
  },
  {
    it: 'shows an empty filter',
    status: 200,
    vendor: usualMinimum,
    given: given(small),
    ask: get,
    xml: {
      LifecycleConfiguration: { Rule: { ID: 'small', Filter: '', Status: 'Enabled', Expiration: { Days: '1' } } },
    },
  },
  ...ownerRows(get),
])

wireTests('DeleteBucketLifecycle', [
  {
    it: 'removes the rules',
    status: 204,
    given: given(small),
    ask: remove,
    vendor: {},
    body: '',
    afterwards: async (wire) => expect((await wire.ask(get)).status).toBe(404),
    sdk: sdk(DeleteBucketLifecycleCommand, { Bucket }),
  },
  { it: 'removes none where there are none', status: 204, ask: remove },
  ...ownerRows(remove),
])
