/** A bucket's website configuration over the wire: set, shown, removed. What it does: website.test.ts. */
import { DeleteBucketWebsiteCommand, GetBucketWebsiteCommand, PutBucketWebsiteCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import type { ErrorCode } from '../../src/errors.ts'
import type { Wire } from '../support/wire-client.ts'
import { documentRows, putDocument } from '../support/wire-documents.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import {
  errorDocument,
  indexDocument,
  openToAll,
  putPages,
  putWebsite,
  routingRules,
  visit,
} from '../support/wire-sites.ts'
import { ownerRows } from '../support/wire-versions.ts'

const Bucket = 'wire'
const get = { method: 'GET', query: { website: '' } } as const
const remove = { method: 'DELETE', query: { website: '' } } as const

const rule =
  '<Condition><HttpErrorCodeReturnedEquals>404</HttpErrorCodeReturnedEquals><KeyPrefixEquals>old/</KeyPrefixEquals></Condition><Redirect><HostName>a.test</HostName><HttpRedirectCode>302</HttpRedirectCode><Protocol>https</Protocol><ReplaceKeyPrefixWith>new/</ReplaceKeyPrefixWith></Redirect>'
const replaceRule =
  '<Condition><KeyPrefixEquals>a</KeyPrefixEquals></Condition><Redirect><ReplaceKeyWith>b.html</ReplaceKeyWith></Redirect>'
const full = indexDocument + errorDocument + routingRules(rule)
const fullOfSdk = {
  IndexDocument: { Suffix: 'index.html' },
  ErrorDocument: { Key: 'error.html' },
  RoutingRules: [
    {
      Condition: { HttpErrorCodeReturnedEquals: '404', KeyPrefixEquals: 'old/' },
      Redirect: {
        HostName: 'a.test',
        HttpRedirectCode: '302',
        Protocol: 'https' as const,
        ReplaceKeyPrefixWith: 'new/',
      },
    },
  ],
}
const all = '<RedirectAllRequestsTo><HostName>a.test</HostName></RedirectAllRequestsTo>'
const allByTls = '<RedirectAllRequestsTo><HostName>a.test</HostName><Protocol>https</Protocol></RedirectAllRequestsTo>'
const redirect = '<Redirect><HostName>a.test</HostName></Redirect>'

/** Where a visitor is sent. */
const goesTo = async (wire: Wire, target: string): Promise<string> =>
  `${(await visit(wire, target)).headers.get('location')}`.replace(`:${wire.port}`, '')
const shows = (target: string, page: string) => async (wire: Wire) =>
  expect((await visit(wire, target)).body.toString()).toBe(`this is ${page}`)
const pages =
  (...keys: string[]) =>
  async (wire: Wire): Promise<void> => {
    await openToAll(wire)
    await putPages(wire, ...keys)
  }
const ofRule = (...names: string[]): string[] =>
  names.map((name) => `element:WebsiteConfiguration/RoutingRules/RoutingRule/${name}`)

const given = async (wire: Wire): Promise<void> => {
  await wire.must(putWebsite(indexDocument))
}
/** What is set, as the AWS SDK names it. */
const isStill =
  (elements: string) =>
  async (wire: Wire): Promise<void> => {
    const { body } = await wire.ask(get)
    expect(body.toString().replace(/^.*?<WebsiteConfiguration[^>]*>/s, '')).toBe(`${elements}</WebsiteConfiguration>`)
  }

const wrong: readonly [what: string, code: ErrorCode, elements: string, details?: Record<string, string>][] = [
  ['nothing', 'InvalidArgument', '', { ArgumentName: 'IndexDocument', ArgumentValue: 'null' }],
  [
    'an index document in a directory',
    'InvalidArgument',
    '<IndexDocument><Suffix>a/b</Suffix></IndexDocument>',
    { ArgumentName: 'IndexDocument', ArgumentValue: 'a/b' },
  ],
  [
    'a redirection of all, with documents',
    'InvalidArgument',
    all + indexDocument,
    { ArgumentName: 'RedirectAllRequestsTo', ArgumentValue: 'not null' },
  ],
  ['an index document without suffix', 'MalformedXML', '<IndexDocument/>'],
  ['no rules among rules', 'MalformedXML', `${indexDocument}<RoutingRules/>`],
  ['a rule without a redirect', 'MalformedXML', indexDocument + routingRules('')],
  ['a redirect to where it comes from', 'MalformedXML', indexDocument + routingRules('<Redirect/>')],
  ['an element that S3 does not know', 'MalformedXML', `${indexDocument}<Theme>dark</Theme>`],
  ['an empty condition', 'InvalidRequest', indexDocument + routingRules(`<Condition/>${redirect}`)],
  [
    'a code that is not a number',
    'MalformedXML',
    indexDocument + routingRules('<Redirect><HttpRedirectCode>moved</HttpRedirectCode></Redirect>'),
  ],
  [
    'a code that is no redirection',
    'InvalidRequest',
    indexDocument + routingRules('<Redirect><HttpRedirectCode>200</HttpRedirectCode></Redirect>'),
  ],
  ['another protocol', 'InvalidRequest', indexDocument + routingRules('<Redirect><Protocol>ftp</Protocol></Redirect>')],
  [
    'a host that would end its header',
    'InvalidArgument',
    '<RedirectAllRequestsTo><HostName>a&#13;&#10;x: y</HostName></RedirectAllRequestsTo>',
    { ArgumentName: 'HostName', ArgumentValue: 'a\r\nx: y' },
  ],
  ['more than 50 rules', 'InvalidRequest', indexDocument + routingRules(...Array.from({ length: 51 }, () => redirect))],
]

wireTests('PutBucketWebsite', [
  {
    it: 'sets documents and rules',
    status: 200,
    ask: putWebsite(full),
    vendor: {},
    body: '',
    afterwards: isStill(full),
    sdk: sdk(PutBucketWebsiteCommand, { Bucket, WebsiteConfiguration: fullOfSdk }),
  },
  {
    it: 'replaces all that was set',
    status: 200,
    given: async (wire) => {
      await wire.must(putWebsite(full))
    },
    ask: putWebsite(all),
    afterwards: isStill(all),
  },
  {
    it: 'answers a folder with its index document',
    proves: ['element:WebsiteConfiguration/IndexDocument/Suffix'],
    status: 200,
    given: pages('index.html'),
    ask: putWebsite(indexDocument),
    afterwards: shows('/', 'index.html'),
  },
  {
    it: 'answers what is missing with its error document',
    proves: ['element:WebsiteConfiguration/ErrorDocument/Key'],
    status: 200,
    given: pages('error.html'),
    ask: putWebsite(indexDocument + errorDocument),
    afterwards: shows('/missing', 'error.html'),
  },
  {
    it: 'sends all visitors elsewhere',
    proves: ['HostName', 'Protocol'].map((name) => `element:WebsiteConfiguration/RedirectAllRequestsTo/${name}`),
    status: 200,
    ask: putWebsite(allByTls),
    afterwards: async (wire) => expect(await goesTo(wire, '/x')).toBe('https://a.test/x'),
  },
  {
    it: 'sends visitors elsewhere by a rule with all its parts',
    proves: ofRule(
      ...['HttpErrorCodeReturnedEquals', 'KeyPrefixEquals'].map((name) => `Condition/${name}`),
      ...['HostName', 'HttpRedirectCode', 'Protocol', 'ReplaceKeyPrefixWith'].map((name) => `Redirect/${name}`),
    ),
    status: 200,
    given: openToAll,
    ask: putWebsite(full),
    afterwards: async (wire) => {
      expect([await goesTo(wire, '/old/x'), (await visit(wire, '/old/x')).status]).toEqual([
        'https://a.test/new/x',
        302,
      ])
      expect((await visit(wire, '/elsewhere')).status).toBe(404)
    },
  },
  {
    it: 'sends visitors to one key by a rule',
    proves: ofRule('Redirect/ReplaceKeyWith'),
    status: 200,
    given: openToAll,
    ask: putWebsite(indexDocument + routingRules(replaceRule)),
    afterwards: async (wire) => {
      expect(await goesTo(wire, '/a.html')).toBe('http://wire.site.test/b.html')
      expect((await visit(wire, '/elsewhere')).status).toBe(404)
    },
  },
  {
    it: 'takes 50 rules',
    status: 200,
    ask: putWebsite(indexDocument + routingRules(...Array.from({ length: 50 }, () => redirect))),
  },
  ...wrong.map(
    ([what, code, elements, details]): Row => ({
      it: `refuses ${what}`,
      ...refusal(code, details),
      given,
      ask: putWebsite(elements),
      afterwards: isStill(indexDocument),
    }),
  ),
  {
    it: 'refuses a document of more than 128 KiB',
    ...refusal('MaxMessageLengthExceeded', { MaxMessageLengthBytes: '131072' }),
    given,
    ask: putDocument(
      { website: '' },
      `<WebsiteConfiguration>${indexDocument}<!--${'x'.repeat(128 * 1024)}--></WebsiteConfiguration>`,
    ),
    afterwards: isStill(indexDocument),
  },
  ...documentRows(putWebsite(full), given, isStill(indexDocument), { digestRequired: false }),
  ...ownerRows(putWebsite(full)),
])

wireTests('GetBucketWebsite', [
  {
    it: 'says that there is none',
    ...refusal('NoSuchWebsiteConfiguration', { BucketName: 'wire' }),
    ask: get,
    vendor: {},
    sdk: sdk(GetBucketWebsiteCommand, { Bucket }),
  },
  {
    it: 'shows what was set',
    status: 200,
    given: async (wire) => {
      await wire.must(putWebsite(full))
    },
    ask: get,
    vendor: {},
    xml: {
      WebsiteConfiguration: {
        IndexDocument: { Suffix: 'index.html' },
        ErrorDocument: { Key: 'error.html' },
        RoutingRules: { RoutingRule: fullOfSdk.RoutingRules[0] },
      },
    },
    sdk: sdk(GetBucketWebsiteCommand, { Bucket }, fullOfSdk),
  },
  {
    it: 'shows a rule that replaces the key',
    status: 200,
    given: async (wire) => void (await wire.must(putWebsite(indexDocument + routingRules(replaceRule)))),
    ask: get,
    xml: {
      WebsiteConfiguration: {
        IndexDocument: { Suffix: 'index.html' },
        RoutingRules: {
          RoutingRule: { Condition: { KeyPrefixEquals: 'a' }, Redirect: { ReplaceKeyWith: 'b.html' } },
        },
      },
    },
  },
  {
    it: 'shows where all visitors are sent',
    status: 200,
    given: async (wire) => void (await wire.must(putWebsite(allByTls))),
    ask: get,
    xml: { WebsiteConfiguration: { RedirectAllRequestsTo: { HostName: 'a.test', Protocol: 'https' } } },
  },
  ...ownerRows(get, { given }),
])

wireTests('DeleteBucketWebsite', [
  {
    it: 'leaves none',
    status: 204,
    given,
    ask: remove,
    vendor: {},
    body: '',
    afterwards: async (wire) => {
      expect((await wire.ask(get)).status).toBe(404)
    },
    sdk: sdk(DeleteBucketWebsiteCommand, { Bucket }),
  },
  { it: 'has nothing to remove', status: 204, ask: remove },
  ...ownerRows(remove),
])
