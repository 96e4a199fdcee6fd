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
const transition = (storageClass: string, when: string) =>
  `<Transition>${when}<StorageClass>${storageClass}</StorageClass></Transition>`
const inDays = (storageClass: string, count: number) => transition(storageClass, `<Days>${count}</Days>`)
const older = (storageClass: string, count: number, more = '') =>
  `<NoncurrentVersionTransition><NoncurrentDays>${count}</NoncurrentDays>${more}<StorageClass>${storageClass}</StorageClass></NoncurrentVersionTransition>`
const keepsTwo = '<NewerNoncurrentVersions>2</NewerNoncurrentVersions>'
const moving = [
  `<ID>moves</ID>${everything}${inDays('STANDARD_IA', 30)}${inDays('GLACIER', 60)}${older('GLACIER_IR', 0, keepsTwo)}${older('DEEP_ARCHIVE', 90)}<Expiration><Days>61</Days></Expiration>`,
  `<ID>dated</ID>${everything}${transition('GLACIER', '<Date>2030-01-01T00:00:00Z</Date>')}`,
]
const movingOfSdk = [
  {
    ID: 'moves',
    Filter: {},
    Status: 'Enabled' as const,
    Expiration: { Days: 61 },
    Transitions: [
      { Days: 30, StorageClass: 'STANDARD_IA' as const },
      { Days: 60, StorageClass: 'GLACIER' as const },
    ],
    NoncurrentVersionTransitions: [
      { NoncurrentDays: 0, NewerNoncurrentVersions: 2, StorageClass: 'GLACIER_IR' as const },
      { NoncurrentDays: 90, StorageClass: 'DEEP_ARCHIVE' as const },
    ],
  },
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
  ['a transition to no class', 'MalformedXML', [`${everything}<Transition><Days>1</Days></Transition>`]],
  ['a transition back to STANDARD', 'MalformedXML', [everything + inDays('STANDARD', 1)]],
  ['a transition to a class of other servers', 'MalformedXML', [everything + inDays('COLD', 1)]],
  [
    'a transition in days and at a date',
    'MalformedXML',
    [everything + transition('GLACIER', '<Days>1</Days><Date>2030-01-01T00:00:00Z</Date>')],
  ],
  ['a transition beyond 32 bits', 'MalformedXML', [everything + inDays('GLACIER', 2 ** 31)]],
  [
    'a transition of noncurrent versions without days',
    'MalformedXML',
    [`${everything}<NoncurrentVersionTransition><StorageClass>GLACIER</StorageClass></NoncurrentVersionTransition>`],
  ],
  ['a transition at no time', 'InvalidArgument', [everything + transition('GLACIER', '')]],
  [
    'transitions that keep more than 100 versions',
    'InvalidArgument',
    [everything + older('GLACIER', 1, keepsTwo.replace('2', '101'))],
  ],
  [
    'transitions that keep versions, without a filter',
    'InvalidRequest',
    [`<Prefix>a</Prefix><Status>Enabled</Status>${older('GLACIER', 1, keepsTwo)}`],
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
  'Transition/Date',
  'Transition/Days',
  'Transition/StorageClass',
  'NoncurrentVersionTransition/NoncurrentDays',
  'NoncurrentVersionTransition/NewerNoncurrentVersions',
  'NoncurrentVersionTransition/StorageClass',
  'AbortIncompleteMultipartUpload/DaysAfterInitiation',
].map((name) => `element:LifecycleConfiguration/Rule/${name}`)

const below = '<Filter><Prefix>p/</Prefix></Filter><Status>Enabled</Status>'
const tagged = `<Filter><And><Prefix>p/</Prefix>${tag('t')}<ObjectSizeGreaterThan>5</ObjectSizeGreaterThan><ObjectSizeLessThan>9</ObjectSizeLessThan></And></Filter><Status>Enabled</Status>`
const expires = (when: string) => `<Expiration>${when}</Expiration>`

/** What S3 says of transitions, as other servers that were compared with it recorded it. */
const transitionTexts: readonly [
  what: string,
  code: 'InvalidRequest' | 'InvalidArgument',
  rule: string,
  text: string,
][] = [
  [
    'a transition in negative days',
    'InvalidArgument',
    below + inDays('GLACIER', -1),
    "'Days' in Transition action must be nonnegative",
  ],
  [
    'a transition of noncurrent versions in negative days',
    'InvalidArgument',
    below + older('GLACIER', -1),
    "'NoncurrentDays' in NoncurrentVersionTransition action must be nonnegative",
  ],
  [
    'a transition within a day',
    'InvalidArgument',
    below + transition('GLACIER', '<Date>2030-01-01T15:00:00Z</Date>'),
    "'Date' must be at midnight GMT",
  ],
  [
    'an early transition to infrequent access',
    'InvalidArgument',
    below + inDays('STANDARD_IA', 29),
    "'Days' in Transition action must be greater than or equal to 30 for storageClass 'STANDARD_IA'",
  ],
  [
    'two transitions to one class',
    'InvalidRequest',
    below + inDays('GLACIER', 90) + inDays('GLACIER', 30),
    "'StorageClass' must be different for 'Transition' actions in same 'Rule' with filter '(prefix=p/)'",
  ],
  [
    'two transitions of noncurrent versions to one class',
    'InvalidRequest',
    below.replace(/<Filter>.*<\/Filter>/, '<Prefix></Prefix>') + older('GLACIER', 90) + older('GLACIER', 30),
    "'StorageClass' must be different for 'NoncurrentVersionTransition' actions in same 'Rule' with prefix ''",
  ],
  [
    'transitions in days and at dates',
    'InvalidRequest',
    below + inDays('GLACIER', 30) + transition('DEEP_ARCHIVE', '<Date>2030-01-01T00:00:00Z</Date>'),
    "Found mixed 'Date' and 'Days' based Transition actions in lifecycle rule for filter '(prefix=p/)'",
  ],
  [
    'a transition in days and an expiration at a date',
    'InvalidRequest',
    below + expires('<Date>2030-01-01T00:00:00Z</Date>') + inDays('GLACIER', 30),
    "Found mixed 'Date' and 'Days' based Expiration and Transition actions in lifecycle rule for filter '(prefix=p/)'",
  ],
  [
    'an expiration that is no later than a transition',
    'InvalidArgument',
    tagged + expires('<Days>30</Days>') + inDays('GLACIER', 30),
    "'Days' in the Expiration action for filter '(prefix=p/ and tag={key=t, value=v} and objectsizegreaterthan=5 and objectsizelessthan=9)' must be greater than 'Days' in the Transition action",
  ],
  [
    'an expiration at the date of a transition',
    'InvalidArgument',
    below + expires('<Date>2030-01-01T00:00:00Z</Date>') + transition('GLACIER', '<Date>2030-01-01T00:00:00Z</Date>'),
    "'Date' in the Expiration action for filter '(prefix=p/)' must be greater than 'Date' in the Transition action",
  ],
  [
    'an expiration of noncurrent versions that is no later than a transition',
    'InvalidArgument',
    `${below}<NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays></NoncurrentVersionExpiration>${older('GLACIER', 1)}`,
    "'NoncurrentDays' in the NoncurrentVersionExpiration action for filter '(prefix=p/)' must be greater than 'NoncurrentDays' in the NoncurrentVersionTransition action",
  ],
  [
    'a lower class that comes no later',
    'InvalidArgument',
    below + inDays('DEEP_ARCHIVE', 1) + inDays('GLACIER', 1),
    "'Days' in the Transition action for StorageClass 'DEEP_ARCHIVE' for filter '(prefix=p/)' must be greater than 'Days' in the Transition action for StorageClass 'GLACIER' for filter '(prefix=p/)'",
  ],
  [
    'a class that comes less than a month after infrequent access',
    'InvalidArgument',
    below + inDays('STANDARD_IA', 30) + inDays('GLACIER', 59),
    "'Days' in the Transition action for StorageClass 'GLACIER' for filter '(prefix=p/)' must be 30 days more than 'Days' in the Transition action for StorageClass 'STANDARD_IA' for filter '(prefix=p/)'",
  ],
]

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
    ask: putLifecycle(...full, ...moving),
    proves: elements,
    vendor: {},
    body: '',
    afterwards: idsAre('all', 'old', 'f', 'greater', 'less', 'markers', 'moves', 'dated'),
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
    it: 'takes from which size on objects are moved',
    status: 200,
    ask: { ...putLifecycle(small), vendor: otherMinimum },
    proves: [`vendor:${minimum}`],
    vendor: otherMinimum,
  },
  {
    it: 'refuses another word about that size',
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
  ...transitionTexts.map(
    ([what, code, rule, message]): Row => ({
      it: `says in S3's words what is wrong with ${what}`,
      ...refusal(code, code === 'InvalidRequest' ? {} : undefined),
      message,
      ask: putDocument({ lifecycle: '' }, lifecycleDocument(rule)),
    }),
  ),
  {
    it: 'sets transitions that the SDK sends',
    status: 200,
    ask: putLifecycle(...moving.slice(0, 1)),
    afterwards: idsAre('moves'),
    sdk: sdk(PutBucketLifecycleConfigurationCommand, { Bucket, LifecycleConfiguration: { Rules: movingOfSdk } }),
  },
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
    it: 'says from which size on objects are moved',
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
    it: 'shows transitions',
    status: 200,
    given: given(...moving),
    ask: get,
    vendor: usualMinimum,
    xml: {
      LifecycleConfiguration: {
        Rule: [
          {
            ID: 'moves',
            Filter: '',
            Status: 'Enabled',
            Expiration: { Days: '61' },
            Transition: [
              { Days: '30', StorageClass: 'STANDARD_IA' },
              { Days: '60', StorageClass: 'GLACIER' },
            ],
            NoncurrentVersionTransition: [
              { NoncurrentDays: '0', NewerNoncurrentVersions: '2', StorageClass: 'GLACIER_IR' },
              { NoncurrentDays: '90', StorageClass: 'DEEP_ARCHIVE' },
            ],
          },
          {
            ID: 'dated',
            Filter: '',
            Status: 'Enabled',
            Transition: { Date: '2030-01-01T00:00:00.000Z', StorageClass: 'GLACIER' },
          },
        ],
      },
    },
  },
  {
    it: 'shows transitions to the SDK',
    status: 200,
    vendor: usualMinimum,
    given: given(...moving),
    ask: get,
    sdk: sdk(
      GetBucketLifecycleConfigurationCommand,
      { Bucket },
      {
        Rules: [
          ...movingOfSdk,
          {
            ID: 'dated',
            Filter: {},
            Status: 'Enabled',
            Transitions: [{ Date: new Date('2030-01-01T00:00:00Z'), StorageClass: 'GLACIER' }],
          },
        ],
      },
    ),
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
