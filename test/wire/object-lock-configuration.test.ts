/** PutObjectLockConfiguration and GetObjectLockConfiguration over the wire. */
import {
  GetObjectLockConfigurationCommand,
  type ObjectLockRule,
  PutObjectLockConfigurationCommand,
} from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import type { Reply, Wire } from '../support/wire-client.ts'
import { documentRows, putDocument } from '../support/wire-documents.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import {
  enabled,
  lockConfiguration,
  locksOf,
  ownerRows,
  putLockConfiguration,
  putVersion,
  suspended,
  vault,
} from '../support/wire-versions.ts'
import { readXml } from '../support/wire-xml.ts'

const query = { 'object-lock': '' }
const get = { method: 'GET', query } as const
const putText = (body: string) => putDocument(query, body)
const throughSdk = (Rule?: ObjectLockRule) =>
  sdk(PutObjectLockConfigurationCommand, {
    Bucket: 'wire',
    ObjectLockConfiguration: { ObjectLockEnabled: 'Enabled', ...(Rule === undefined ? {} : { Rule }) },
  })

const tenDays = '<Mode>GOVERNANCE</Mode><Days>10</Days>'
const given = (wire: Wire) => vault(wire, tenDays)

/** The rule of the bucket: `undefined` when it has Object Lock and no rule; `none` when it has none. */
const hasRule = (rule: object | undefined | 'none') => async (wire: Wire) => {
  const reply = await wire.ask(get)
  expect(ruleOf(reply)).toEqual(rule)
}

function ruleOf(reply: Reply): unknown {
  if (reply.status === 404) return 'none'
  const { Rule } = readXml(reply.body).value as { Rule?: { DefaultRetention: object } }
  return Rule?.DefaultRetention
}
const keepsRule = hasRule({ Mode: 'GOVERNANCE', Days: '10' })

const set: Row[] = [
  {
    it: 'enables Object Lock on a bucket with versions',
    proves: ['element:ObjectLockConfiguration/ObjectLockEnabled'],
    status: 200,
    given: enabled,
    ask: putLockConfiguration(),
    headers: { 'Content-Length': '0' },
    vendor: {},
    body: '',
    afterwards: hasRule(undefined),
    sdk: throughSdk(),
  },
  {
    it: 'sets a default retention in days',
    proves: ['PutObjectLockConfiguration: the bucket has the configuration'],
    status: 200,
    given: enabled,
    ask: putLockConfiguration('<Mode>GOVERNANCE</Mode><Days>1</Days>'),
    afterwards: hasRule({ Mode: 'GOVERNANCE', Days: '1' }),
    sdk: throughSdk({ DefaultRetention: { Mode: 'GOVERNANCE', Days: 1 } }),
  },
  {
    it: 'sets a default retention in years',
    status: 200,
    given: enabled,
    ask: putLockConfiguration('<Years>1</Years><Mode>COMPLIANCE</Mode>'),
    afterwards: hasRule({ Mode: 'COMPLIANCE', Years: '1' }),
    sdk: throughSdk({ DefaultRetention: { Mode: 'COMPLIANCE', Years: 1 } }),
  },
  ...[
    { Mode: 'GOVERNANCE', Days: '36500' },
    { Mode: 'COMPLIANCE', Years: '100' },
  ].map(
    (rule): Row => ({
      it: `takes ${rule.Days === undefined ? '100 years' : '36,500 days'}`,
      status: 200,
      given: enabled,
      ask: putLockConfiguration(
        Object.entries(rule)
          .map(([name, value]) => `<${name}>${value}</${name}>`)
          .join(''),
      ),
      afterwards: hasRule(rule),
    }),
  ),
  {
    it: 'replaces the rule by another, and by none',
    status: 200,
    given,
    ask: putLockConfiguration('<Mode>COMPLIANCE</Mode><Days>3</Days>'),
    afterwards: async (wire) => {
      await hasRule({ Mode: 'COMPLIANCE', Days: '3' })(wire)
      await wire.must(putLockConfiguration())
      await hasRule(undefined)(wire)
    },
  },
  // Two years of the calendar have at most one leap day.
  ...(
    [
      ['GOVERNANCE', 'Days', 10, [10]],
      ['COMPLIANCE', 'Years', 2, [730, 731]],
    ] as const
  ).map(
    ([mode, unit, period, days]): Row => ({
      it: `locks what is written from then on for ${period} ${unit} in ${mode} mode, and nothing that was there`,
      proves: [
        ...['Mode', unit].map((name) => `element:ObjectLockConfiguration/Rule/DefaultRetention/${name}`),
        'a default retention applies to every new object of the bucket',
      ],
      status: 200,
      given: async (wire) => {
        await enabled(wire)
        return { before: await putVersion(wire, 'a', 'before') }
      },
      ask: putLockConfiguration(`<Mode>${mode}</Mode><${unit}>${period}</${unit}>`),
      afterwards: async (wire, _, { before }) => {
        const versionId = await putVersion(wire, 'a', 'after')
        expect(await locksOf(wire, before)).toEqual([undefined, undefined, undefined])
        const [found, until = ''] = await locksOf(wire)
        expect(found).toBe(mode)
        expect(days).toContain(Math.round((Date.parse(until) - Date.now()) / 86_400_000))
        expect((await wire.ask({ method: 'DELETE', key: 'a', query: { versionId } })).status).toBe(403)
      },
    }),
  ),
]

const keeps = { given, afterwards: keepsRule }
const malformedRules: [what: string, rule: string][] = [
  ['days and years', '<Mode>GOVERNANCE</Mode><Days>1</Days><Years>1</Years>'],
  ['neither days nor years', '<Mode>GOVERNANCE</Mode>'],
  ['a period without a mode', '<Days>1</Days>'],
  ['an unknown mode', '<Mode>governance</Mode><Days>1</Days>'],
  ['days that are no integer', '<Mode>GOVERNANCE</Mode><Days>1.5</Days>'],
  ['days that are not a number', '<Mode>GOVERNANCE</Mode><Days>ten</Days>'],
  ['an empty default retention', ''],
]
const outOfBounds: [name: 'Days' | 'Years', value: string][] = [
  ['Days', '0'],
  ['Days', '-1'],
  ['Days', '36501'],
  ['Years', '0'],
  ['Years', '-1'],
  ['Years', '101'],
]

const refused: Row[] = [
  ...malformedRules.map(
    ([what, rule]): Row => ({
      it: `refuses ${what}, and keeps the rule that was there`,
      ...keeps,
      ...refusal('MalformedXML'),
      ask: putLockConfiguration(rule),
    }),
  ),
  ...outOfBounds.map(
    ([name, value]): Row => ({
      it: `refuses ${value} ${name.toLowerCase()}, and keeps the rule that was there`,
      ...keeps,
      ...refusal('InvalidArgument', { ArgumentName: name, ArgumentValue: value }),
      ask: putLockConfiguration(`<Mode>COMPLIANCE</Mode><${name}>${value}</${name}>`),
      sdk: throughSdk({ DefaultRetention: { Mode: 'COMPLIANCE', [name]: Number(value) } }),
    }),
  ),
  {
    it: 'refuses a rule without a default retention',
    ...keeps,
    ...refusal('MalformedXML'),
    ask: putText(lockConfiguration('').replace(/<DefaultRetention>.*<\/DefaultRetention>/, '')),
  },
  {
    it: 'refuses a configuration that does not say that Object Lock is enabled',
    ...keeps,
    ...refusal('MalformedXML'),
    ask: putText('<ObjectLockConfiguration/>'),
  },
  ...['Disabled', 'enabled', ''].map(
    (value): Row => ({
      it: `refuses ObjectLockEnabled "${value}": Object Lock is never taken away`,
      ...keeps,
      ...refusal('MalformedXML'),
      ask: putText(lockConfiguration().replace('Enabled<', `${value}<`)),
    }),
  ),
  ...(
    [
      ['versions never were on', undefined],
      ['versions are suspended', suspended],
    ] as const
  ).map(
    ([where, given]): Row => ({
      it: `answers InvalidBucketState where ${where}`,
      ...refusal('InvalidBucketState', {}),
      ...(given === undefined ? {} : { given }),
      ask: putLockConfiguration(tenDays),
      afterwards: hasRule('none'),
      sdk: throughSdk({ DefaultRetention: { Mode: 'COMPLIANCE', Days: 1 } }),
    }),
  ),
  {
    it: 'refuses a token by name',
    ...refusal('NotImplemented', { NotImplemented: '{{prefix}}bucket-object-lock-token' }),
    given: enabled,
    ask: { ...putLockConfiguration(), vendor: { 'bucket-object-lock-token': 'token' } },
    afterwards: hasRule('none'),
    sdk: sdk(PutObjectLockConfigurationCommand, {
      Bucket: 'wire',
      Token: 'token',
      ObjectLockConfiguration: { ObjectLockEnabled: 'Enabled' },
    }),
  },
  ...documentRows(putLockConfiguration('<Mode>COMPLIANCE</Mode><Days>1</Days>'), given, keepsRule, {
    digestRequired: 'by AWS',
  }),
  ...ownerRows(putLockConfiguration('<Mode>COMPLIANCE</Mode><Days>1</Days>'), keeps),
]

wireTests('PutObjectLockConfiguration', [...set, ...refused])

const createdLocked: Row['given'] = async (wire) => {
  await wire.must({ method: 'PUT', vendor: { 'bucket-object-lock-enabled': 'true' } })
}

wireTests('GetObjectLockConfiguration', [
  {
    it: 'answers the rule in days',
    status: 200,
    given,
    ask: get,
    headers: { 'Content-Type': 'application/xml' },
    vendor: {},
    xml: {
      ObjectLockConfiguration: {
        ObjectLockEnabled: 'Enabled',
        Rule: { DefaultRetention: { Mode: 'GOVERNANCE', Days: '10' } },
      },
    },
    sdk: sdk(
      GetObjectLockConfigurationCommand,
      { Bucket: 'wire' },
      {
        ObjectLockConfiguration: {
          ObjectLockEnabled: 'Enabled',
          Rule: { DefaultRetention: { Mode: 'GOVERNANCE', Days: 10 } },
        },
      },
    ),
  },
  {
    it: 'answers the rule in years',
    status: 200,
    given: (wire) => vault(wire, '<Mode>COMPLIANCE</Mode><Years>7</Years>'),
    ask: get,
    xml: {
      ObjectLockConfiguration: {
        ObjectLockEnabled: 'Enabled',
        Rule: { DefaultRetention: { Mode: 'COMPLIANCE', Years: '7' } },
      },
    },
  },
  {
    it: 'answers no rule where there is none',
    status: 200,
    given: createdLocked,
    withoutBucket: true,
    ask: get,
    xml: { ObjectLockConfiguration: { ObjectLockEnabled: 'Enabled' } },
    sdk: sdk(
      GetObjectLockConfigurationCommand,
      { Bucket: 'wire' },
      { ObjectLockConfiguration: { ObjectLockEnabled: 'Enabled' } },
    ),
  },
  ...(
    [
      ['versions never were on', undefined],
      ['versions are on', enabled],
    ] as const
  ).map(
    ([where, given]): Row => ({
      it: `answers ObjectLockConfigurationNotFoundError where there is no Object Lock and ${where}`,
      ...refusal('ObjectLockConfigurationNotFoundError', { BucketName: 'wire' }),
      ...(given === undefined ? {} : { given }),
      ask: get,
      sdk: sdk(GetObjectLockConfigurationCommand, { Bucket: 'wire' }),
    }),
  ),
  ...ownerRows(get, { given }),
])
