import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { S3Error } from '../../src/errors.ts'
import type { RoutingRule, WebsiteConfiguration } from '../../src/records/website.ts'
import { checkWebsite, directoryOf, keyOfPage, type PageRequest, redirectOf } from '../../src/rules/website.ts'

const site: WebsiteConfiguration = { indexSuffix: 'index.html' }
const ruled = (...routingRules: RoutingRule[]): WebsiteConfiguration => ({ ...site, routingRules })
const manyRules = (count: number) => ruled(...Array.from({ length: count }, () => ({ redirect: { hostName: 'a' } })))

function refusalOf(website: WebsiteConfiguration): string {
  try {
    checkWebsite(website)
    return 'taken'
  } catch (error) {
    if (error instanceof S3Error) return error.code
    throw error
  }
}

describe('a configuration', () => {
  it.each<[string, WebsiteConfiguration, string]>([
    ['an index document', site, 'taken'],
    ['with an error document', { ...site, errorKey: 'a/b.html' }, 'taken'],
    ['all redirected', { redirectAllRequestsTo: { hostName: 'a.test' } }, 'taken'],
    ['all redirected to a path', { redirectAllRequestsTo: { hostName: 'a.test/b' } }, 'taken'],
    ['nothing', {}, 'InvalidArgument'],
    ['an error document alone', { errorKey: 'a' }, 'InvalidArgument'],
    ['an empty index document', { indexSuffix: '' }, 'InvalidArgument'],
    ['an index document with a slash', { indexSuffix: 'a/b' }, 'InvalidArgument'],
    ['an index document that no key can have', { indexSuffix: 'é'.repeat(513) }, 'InvalidArgument'],
    ['an empty error document', { ...site, errorKey: '' }, 'InvalidArgument'],
    ['all redirected, and documents', { ...site, redirectAllRequestsTo: { hostName: 'a' } }, 'InvalidArgument'],
    ['all redirected, and rules', { ...manyRules(1), redirectAllRequestsTo: { hostName: 'a' } }, 'InvalidArgument'],
    ['all redirected to nowhere', { redirectAllRequestsTo: { hostName: '' } }, 'InvalidArgument'],
    ['all redirected into a header', { redirectAllRequestsTo: { hostName: 'a\r\nx: y' } }, 'InvalidArgument'],
    ['50 rules', manyRules(50), 'taken'],
    ['51 rules', manyRules(51), 'InvalidRequest'],
    ['no rules', ruled(), 'MalformedXML'],
    ['a rule without a redirect', ruled({ redirect: {} }), 'MalformedXML'],
    ['code 301', ruled({ redirect: { httpRedirectCode: 301 } }), 'taken'],
    ['code 300', ruled({ redirect: { httpRedirectCode: 300 } }), 'InvalidRequest'],
    ['code 400', ruled({ redirect: { httpRedirectCode: 400 } }), 'InvalidRequest'],
    ['for failures 599', ruled({ httpErrorCodeReturnedEquals: 599, redirect: { hostName: 'a' } }), 'taken'],
    ['for failures 399', ruled({ httpErrorCodeReturnedEquals: 399, redirect: { hostName: 'a' } }), 'InvalidRequest'],
    ['for failures 600', ruled({ httpErrorCodeReturnedEquals: 600, redirect: { hostName: 'a' } }), 'InvalidRequest'],
    ['both replacements', ruled({ redirect: { replaceKeyWith: 'a', replaceKeyPrefixWith: 'b' } }), 'InvalidRequest'],
    ['a host with a space', ruled({ redirect: { hostName: 'a b' } }), 'InvalidArgument'],
  ])('%s', (_, website, expected) => {
    expect(refusalOf(website)).toBe(expected)
  })
})

it.each([
  ['', 'index.html'],
  ['a/', 'a/index.html'],
  ['a', 'a'],
  ['/', '/index.html'],
  ['../', '../index.html'],
])('the path of %j means the object %j', (key, object) => {
  expect(keyOfPage(key, site)).toBe(object)
})

it.each([
  ['', undefined],
  ['a/', undefined],
  ['a', '/a/'],
  ['a b/ü', '/a%20b/%C3%BC/'],
  // No other host than this one.
  ['/evil.test', '/%2Fevil.test/'],
  ['//evil.test', '/%2F%2Fevil.test/'],
  ['\\evil.test', '/%5Cevil.test/'],
  ['a\r\nx: y', '/a%0D%0Ax%3A%20y/'],
])('the directory %j is at %j', (key, location) => {
  expect(directoryOf(key, site)?.redirect).toEqual(location === undefined ? undefined : { status: 302, location })
})

/** As a browser encodes a key. */
const pageOf = (key: string, rawQuery = ''): PageRequest => ({
  protocol: 'http',
  host: 'b.site.test:8080',
  rawPath: `/${encodeURI(key)}`,
  rawQuery,
  key,
})

describe('a rule', () => {
  const here = 'http://b.site.test:8080/'
  const onPrefix = (redirect: RoutingRule['redirect']): RoutingRule => ({ keyPrefixEquals: 'docs/', redirect })
  const elsewhere = { hostName: 'a.test', protocol: 'https' } as const
  it.each<[string, RoutingRule[], string, number | undefined, string | undefined]>([
    ['on a prefix', [onPrefix({ replaceKeyPrefixWith: 'documents/' })], 'docs/a', undefined, `${here}documents/a`],
    ['on another prefix', [onPrefix({ replaceKeyPrefixWith: 'documents/' })], 'doc', undefined, undefined],
    ['that takes a prefix away', [onPrefix({ replaceKeyPrefixWith: '' })], 'docs/a b', undefined, `${here}a%20b`],
    ['with another key', [onPrefix({ replaceKeyWith: 'all.html' })], 'docs/a', undefined, `${here}all.html`],
    ['with another host', [onPrefix(elsewhere)], 'docs/ü', undefined, 'https://a.test/docs/%C3%BC'],
    ['for all', [{ redirect: elsewhere }], '', undefined, 'https://a.test/'],
    [
      'for failures, before one',
      [{ httpErrorCodeReturnedEquals: 404, redirect: elsewhere }],
      'a',
      undefined,
      undefined,
    ],
    ['for failures', [{ httpErrorCodeReturnedEquals: 404, redirect: elsewhere }], 'a', 404, 'https://a.test/a'],
    ['for other failures', [{ httpErrorCodeReturnedEquals: 404, redirect: elsewhere }], 'a', 403, undefined],
    ['for all, after a failure', [{ redirect: elsewhere }], 'a', 404, undefined],
    [
      'for failures below a prefix',
      [{ httpErrorCodeReturnedEquals: 404, keyPrefixEquals: 'x', redirect: elsewhere }],
      'a',
      404,
      undefined,
    ],
    [
      'with a fragment, as pages of one document want it',
      [{ httpErrorCodeReturnedEquals: 404, redirect: { replaceKeyPrefixWith: '#!/' } }],
      'a/b',
      404,
      `${here}#!/a/b`,
    ],
    [
      'the first of two',
      [onPrefix({ replaceKeyWith: 'one' }), onPrefix({ replaceKeyWith: 'two' })],
      'docs/',
      undefined,
      `${here}one`,
    ],
    [
      'with what would end the header',
      [onPrefix({ replaceKeyWith: 'a\r\nSet-Cookie: b' })],
      'docs/',
      undefined,
      `${here}a%0D%0ASet-Cookie:%20b`,
    ],
  ])('%s', (_, rules, key, failure, location) => {
    expect(redirectOf(ruled(...rules), pageOf(key), failure)?.location).toBe(location)
  })

  it('redirects with 301 unless it says otherwise', () => {
    expect(redirectOf(ruled({ redirect: elsewhere }), pageOf('a'))?.status).toBe(301)
    expect(redirectOf(ruled({ redirect: { httpRedirectCode: 307 } }), pageOf('a'))?.status).toBe(307)
  })

  it('keeps the query', () => {
    expect(redirectOf(ruled({ redirect: elsewhere }), pageOf('a', 'x=1&y'))?.location).toBe('https://a.test/a?x=1&y')
    const withQuery = ruled({ redirect: { replaceKeyWith: 'find?all' } })
    expect(redirectOf(withQuery, pageOf('a', 'x=1'))?.location).toBe(`${here}find?all&x=1`)
  })
})

it('all requests go where the configuration says, path and query with them', () => {
  const all = (redirectAllRequestsTo: WebsiteConfiguration['redirectAllRequestsTo']) =>
    redirectOf({ redirectAllRequestsTo }, pageOf('a b', 'x=1'))
  expect(all({ hostName: 'a.test' })).toEqual({ status: 301, location: 'http://a.test/a%20b?x=1' })
  expect(all({ hostName: 'a.test', protocol: 'https' })?.location).toBe('https://a.test/a%20b?x=1')
})

it('no key and no rule makes a location that has a line break, or names a host that nobody configured', () => {
  const text = fc.string({ unit: 'binary' })
  const draws = fc.record({ key: text, replacement: text })
  fc.assert(
    fc.property(draws, ({ key, replacement }) => {
      const website = ruled({ redirect: { replaceKeyPrefixWith: replacement } })
      const page = { ...pageOf('a'), key }
      const locations = [directoryOf(key, site)?.redirect.location, redirectOf(website, page)?.location]
      for (const location of locations) {
        if (location === undefined) continue
        expect(location).toMatch(/^[\x21-\x7e]*$/)
        expect(new URL(location, 'http://b.site.test:8080').host).toBe('b.site.test:8080')
      }
    }),
  )
})
