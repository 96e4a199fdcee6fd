/** A bucket's CORS rules over the wire: set, shown, removed. What they do: cross-origin.test.ts. */
import { DeleteBucketCorsCommand, GetBucketCorsCommand, PutBucketCorsCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import type { Wire } from '../support/wire-client.ts'
import { corsDocument, type PreflightAsk, preflight, putCors, type RuleElements } from '../support/wire-cors.ts'
import { documentRows, putDocument } from '../support/wire-documents.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { ownerRows } from '../support/wire-versions.ts'

const Bucket = 'wire'
const get = { method: 'GET', query: { cors: '' } } as const
const remove = { method: 'DELETE', query: { cors: '' } } as const

const small: RuleElements = [
  ['AllowedOrigin', '*'],
  ['AllowedMethod', 'GET'],
]
const full: RuleElements = [
  ['ID', 'uploads'],
  ['AllowedOrigin', 'https://app.test'],
  ['AllowedOrigin', 'https://*.app.test'],
  ['AllowedMethod', 'PUT'],
  ['AllowedMethod', 'POST'],
  ['AllowedHeader', 'X-Amz-*'],
  ['ExposeHeader', 'ETag'],
  ['MaxAgeSeconds', '3000'],
]
const fullOfSdk = {
  ID: 'uploads',
  AllowedOrigins: ['https://app.test', 'https://*.app.test'],
  AllowedMethods: ['PUT', 'POST'],
  AllowedHeaders: ['X-Amz-*'],
  ExposeHeaders: ['ETag'],
  MaxAgeSeconds: 3000,
}
const smallOfSdk = { AllowedOrigins: ['*'], AllowedMethods: ['GET'] }

const given =
  (...rules: RuleElements[]) =>
  async (wire: Wire): Promise<void> => {
    await wire.must(putCors(...rules))
  }
/** The methods of the rules, in order. */
const methodsAre =
  (...methods: string[]) =>
  async (wire: Wire): Promise<void> => {
    const { body } = await wire.ask(get)
    expect([...body.toString().matchAll(/<AllowedMethod>(\w+)</g)].map(([, method]) => method)).toEqual(methods)
  }

const wrong: readonly [what: string, code: 'MalformedXML' | 'InvalidRequest', body: string][] = [
  ['no rule', 'MalformedXML', corsDocument()],
  ['an empty rule', 'MalformedXML', corsDocument([])],
  ['a rule without a method', 'MalformedXML', corsDocument([['AllowedOrigin', '*']])],
  ['two IDs of a rule', 'MalformedXML', corsDocument([...small, ['ID', 'a'], ['ID', 'b']])],
  ['a time that is not a number', 'MalformedXML', corsDocument([...small, ['MaxAgeSeconds', 'long']])],
  ['a method of none', 'InvalidRequest', corsDocument([...small, ['AllowedMethod', 'PATCH']])],
  ['two rules of one ID', 'InvalidRequest', corsDocument(full, full)],
  ['two wildcards', 'InvalidRequest', corsDocument([...small, ['AllowedOrigin', '*.*']])],
  ['more than 100 rules', 'InvalidRequest', corsDocument(...Array.from({ length: 101 }, () => small))],
]

const asked: PreflightAsk = { origin: 'https://app.test', method: 'PUT', headers: 'x-amz-date' }
/** What of a rule decides over a preflight: how that differs from one that is allowed, if it does. */
const decisions: readonly [name: string, changed: Partial<PreflightAsk>, allowed: boolean][] = [
  ['AllowedOrigin', { origin: 'https://other.test' }, false],
  ['AllowedMethod', { method: 'GET' }, false],
  ['AllowedHeader', { headers: 'x-two' }, false],
  ['ExposeHeader', {}, true],
  ['MaxAgeSeconds', {}, true],
]

wireTests('PutBucketCors', [
  {
    it: 'sets rules',
    status: 200,
    ask: putCors(full, small),
    vendor: {},
    body: '',
    afterwards: methodsAre('PUT', 'POST', 'GET'),
    sdk: sdk(PutBucketCorsCommand, { Bucket, CORSConfiguration: { CORSRules: [fullOfSdk, smallOfSdk] } }),
  },
  ...decisions.map(
    ([name, changed, allowed]): Row => ({
      it: `goes by ${name} of the rule that it sets`,
      proves: [`element:CORSConfiguration/CORSRule/${name}`],
      status: 200,
      ask: putCors(full),
      afterwards: async (wire) => {
        const { status, headers } = await preflight(wire, { ...asked, ...changed })
        const [exposed, age] = ['access-control-expose-headers', 'access-control-max-age'].map((each) =>
          headers.get(each),
        )
        expect([status, exposed, age]).toEqual(allowed ? [200, 'ETag', '3000'] : [403, undefined, undefined])
      },
    }),
  ),
  {
    it: 'takes an age of less than no seconds, as S3 does, and answers it',
    status: 200,
    ask: putCors([...small, ['MaxAgeSeconds', '-100']]),
    afterwards: async (wire) => {
      const { headers } = await preflight(wire, { origin: 'https://app.test', method: 'GET' })
      expect(headers.get('access-control-max-age')).toBe('-100')
    },
  },
  {
    it: 'replaces all rules',
    status: 200,
    given: given(full, full.slice(1)),
    ask: putCors(small),
    afterwards: methodsAre('GET'),
  },
  { it: 'takes 100 rules', status: 200, ask: putCors(...Array.from({ length: 100 }, () => small)) },
  {
    it: 'takes the elements of a rule in any order, in the namespace of S3',
    status: 200,
    ask: putDocument(
      { cors: '' },
      corsDocument([...full].reverse()).replace('>', ' xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'),
    ),
  },
  ...wrong.map(
    ([what, code, body]): Row => ({
      it: `refuses ${what}`,
      proves: what === 'two rules of one ID' ? ['element:CORSConfiguration/CORSRule/ID'] : [],
      ...refusal(code, code === 'InvalidRequest' ? {} : undefined),
      given: given(small),
      ask: putDocument({ cors: '' }, body),
      afterwards: methodsAre('GET'),
    }),
  ),
  {
    it: 'refuses a document of more than 64 KiB',
    ...refusal('MaxMessageLengthExceeded', { MaxMessageLengthBytes: '65536' }),
    message: 'Your request was too big.',
    given: given(small),
    ask: putCors([...full, ...Array.from({ length: 2000 }, () => ['AllowedHeader', 'x-header'] as const)]),
    afterwards: methodsAre('GET'),
  },
  ...documentRows(putCors(full), given(small), methodsAre('GET'), { digestRequired: true }),
  ...ownerRows(putCors(small)),
])

wireTests('GetBucketCors', [
  {
    it: 'says that there are none',
    ...refusal('NoSuchCORSConfiguration', { BucketName: 'wire' }),
    ask: get,
    vendor: {},
    sdk: sdk(GetBucketCorsCommand, { Bucket }),
  },
  {
    it: 'shows what was set, in the order and the spelling in which it came',
    status: 200,
    given: given(full, small),
    ask: get,
    xml: {
      CORSConfiguration: {
        CORSRule: [
          {
            ID: 'uploads',
            AllowedOrigin: ['https://app.test', 'https://*.app.test'],
            AllowedMethod: ['PUT', 'POST'],
            AllowedHeader: 'X-Amz-*',
            ExposeHeader: 'ETag',
            MaxAgeSeconds: '3000',
          },
          { AllowedOrigin: '*', AllowedMethod: 'GET' },
        ],
      },
    },
    sdk: sdk(GetBucketCorsCommand, { Bucket }, { CORSRules: [fullOfSdk, smallOfSdk] }),
  },
  ...ownerRows(get),
])

wireTests('DeleteBucketCors', [
  {
    it: 'removes the rules',
    status: 204,
    given: given(small),
    ask: remove,
    vendor: {},
    body: '',
    afterwards: async (wire) => expect((await wire.ask(get)).status).toBe(404),
    sdk: sdk(DeleteBucketCorsCommand, { Bucket }),
  },
  { it: 'removes none where there are none', status: 204, ask: remove },
  ...ownerRows(remove),
])
