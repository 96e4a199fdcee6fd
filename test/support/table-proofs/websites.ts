/** Proofs of websites: what each element of a configuration does to a visitor, and that it is read back. */
import { expect } from 'vitest'
import type { Wire } from '../wire-client.ts'
import { errorDocument, indexDocument, openToAll, putPages, putWebsite, routingRules, visit } from '../wire-sites.ts'
import { answering, effect, type Proof } from './proof.ts'

const root = 'WebsiteConfiguration'
const rule = `${root}/RoutingRules/RoutingRule`

/** Where a visitor is sent. */
const goesTo = async (wire: Wire, target: string): Promise<string> =>
  `${(await visit(wire, target)).headers.get('location')}`.replace(`:${wire.port}`, '')

const ruled = (elements: readonly string[], written: string, target: string, location: string): Proof =>
  effect(
    'PutBucketWebsite',
    elements.map((name) => `request element:${rule}/${name}`),
    async (wire) => {
      await openToAll(wire)
      await wire.must(putWebsite(indexDocument + routingRules(written)))
      expect(await goesTo(wire, target)).toBe(location)
      expect(await goesTo(wire, '/elsewhere')).not.toBe(location)
    },
  )

const redirectAll =
  '<RedirectAllRequestsTo><HostName>a.test</HostName><Protocol>https</Protocol></RedirectAllRequestsTo>'
const fullRule =
  '<Condition><HttpErrorCodeReturnedEquals>404</HttpErrorCodeReturnedEquals><KeyPrefixEquals>old/</KeyPrefixEquals></Condition><Redirect><HostName>a.test</HostName><HttpRedirectCode>302</HttpRedirectCode><Protocol>https</Protocol><ReplaceKeyPrefixWith>new/</ReplaceKeyPrefixWith></Redirect>'
const replaceRule = '<Redirect><ReplaceKeyWith>b.html</ReplaceKeyWith></Redirect>'
const get = { method: 'GET', query: { website: '' } } as const

export const websiteProofs: readonly Proof[] = [
  effect('PutBucketWebsite', [`request element:${root}/IndexDocument/Suffix`], async (wire) => {
    await openToAll(wire)
    await putPages(wire, 'index.html')
    expect((await visit(wire, '/')).status).toBe(404)
    await wire.must(putWebsite(indexDocument))
    expect((await visit(wire, '/')).body.toString()).toBe('this is index.html')
  }),
  effect('PutBucketWebsite', [`request element:${root}/ErrorDocument/Key`], async (wire) => {
    await openToAll(wire)
    await putPages(wire, 'error.html')
    await wire.must(putWebsite(indexDocument + errorDocument))
    expect((await visit(wire, '/missing')).body.toString()).toBe('this is error.html')
  }),
  effect(
    'PutBucketWebsite',
    ['HostName', 'Protocol'].map((name) => `request element:${root}/RedirectAllRequestsTo/${name}`),
    async (wire) => {
      await wire.must(putWebsite(redirectAll))
      expect(await goesTo(wire, '/x')).toBe('https://a.test/x')
    },
  ),
  ruled(
    [
      'Condition/HttpErrorCodeReturnedEquals',
      'Condition/KeyPrefixEquals',
      ...['HostName', 'Protocol', 'ReplaceKeyPrefixWith'].map((name) => `Redirect/${name}`),
    ],
    fullRule,
    '/old/x',
    'https://a.test/new/x',
  ),
  ruled(
    ['Redirect/ReplaceKeyWith'],
    `<Condition><KeyPrefixEquals>a</KeyPrefixEquals></Condition>${replaceRule}`,
    '/a.html',
    'http://wire.site.test/b.html',
  ),
  effect('PutBucketWebsite', [`request element:${rule}/Redirect/HttpRedirectCode`], async (wire) => {
    await openToAll(wire)
    await wire.must(putWebsite(indexDocument + routingRules(fullRule)))
    expect((await visit(wire, '/old/x')).status).toBe(302)
  }),
  answering({
    operation: 'GetBucketWebsite',
    it: 'documents and rules',
    given: async (wire) => {
      await wire.must(putWebsite(indexDocument + errorDocument + routingRules(fullRule, replaceRule)))
    },
    ask: get,
    elements: {
      [`${root}/IndexDocument/Suffix`]: 'index.html',
      [`${root}/ErrorDocument/Key`]: 'error.html',
      [`${rule}/Condition/HttpErrorCodeReturnedEquals`]: '404',
      [`${rule}/Condition/KeyPrefixEquals`]: 'old/',
      [`${rule}/Redirect/HostName`]: 'a.test',
      [`${rule}/Redirect/HttpRedirectCode`]: '302',
      [`${rule}/Redirect/Protocol`]: 'https',
      [`${rule}/Redirect/ReplaceKeyPrefixWith`]: 'new/',
      [`${rule}/Redirect/ReplaceKeyWith`]: 'b.html',
    },
  }),
  answering({
    operation: 'GetBucketWebsite',
    it: 'where all requests go',
    given: async (wire) => {
      await wire.must(putWebsite(redirectAll))
    },
    ask: get,
    elements: {
      [`${root}/RedirectAllRequestsTo/HostName`]: 'a.test',
      [`${root}/RedirectAllRequestsTo/Protocol`]: 'https',
    },
  }),
]
