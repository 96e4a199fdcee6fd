import { expect, it } from 'vitest'
import { checkHostNames } from '../../src/config/host-names.ts'

interface Names {
  domains?: string[]
  websiteDomains?: string[]
  publicEndpoints?: string[]
}

function refusalOf({ domains = [], websiteDomains = [], publicEndpoints = [] }: Names): string {
  try {
    checkHostNames({ domains, websiteDomains, publicEndpoints })
    return ''
  } catch (error) {
    return error instanceof Error ? error.message : ''
  }
}

it.each<[Names]>([
  [{}],
  [{ domains: ['s3.a.test'], websiteDomains: ['web.a.test'] }],
  [{ domains: ['s3.a.test', 'a.test'], publicEndpoints: ['https://s3.a.test'] }],
  [{ websiteDomains: ['a.test', 'b.a.test'] }],
  [{ domains: ['a.test'], websiteDomains: ['xa.test'], publicEndpoints: ['https://a.test:8443', 'http://10.0.0.1'] }],
  [{ websiteDomains: ['web.a.test'], publicEndpoints: ['https://a.test'] }],
])('takes %j', (names) => {
  expect(refusalOf(names)).toBe('')
})

it.each<[Names, string]>([
  [{ domains: ['a.test'], websiteDomains: ['a.test'] }, 'website domain a.test: it must not be the S3 domain a.test'],
  [{ domains: ['A.test'], websiteDomains: ['web.a.test'] }, 'the S3 domain a.test'],
  [{ domains: ['s3.a.test'], websiteDomains: ['a.test'] }, 'the S3 domain s3.a.test'],
  [{ websiteDomains: ['localhost'] }, 'the S3 domain localhost'],
  [{ websiteDomains: ['web.localhost'] }, 'the S3 domain localhost'],
  [{ websiteDomains: ['127.0.0.1'] }, 'not an address'],
  [{ websiteDomains: ['a.test'], publicEndpoints: ['https://a.test'] }, 'https://a.test: its host belongs to'],
  [{ websiteDomains: ['a.test'], publicEndpoints: ['https://s3.a.test'] }, 'the website domain a.test'],
  [{ domains: ['a.test'], publicEndpoints: ['https://s3.a.test'] }, 'make s3.a.test a domain, too'],
])('refuses %j', (names, message) => {
  expect(refusalOf(names)).toContain(message)
})
