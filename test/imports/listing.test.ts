/** Pages as other servers write them. */
import { Agent, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { Endpoint } from '../../src/endpoint/endpoint.ts'
import { bucketNames, type ListedKey, listedKeys } from '../../src/imports/listing.ts'

/** By the query that asks for them. */
let pages: Record<string, string>
const server = createServer((request, response) => {
  const page = Object.entries(pages).find(([query]) => request.url?.includes(query))
  response.writeHead(page === undefined ? 404 : 200).end(page?.[1])
})
let endpoint: Endpoint

beforeEach(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  endpoint = new Endpoint({ url, region: 'us-east-1', key: undefined, agent: new Agent(), clock: systemClock })
})
afterEach(() => {
  server.close()
})

async function keysIn(versions: 'all' | 'current'): Promise<ListedKey[]> {
  const found: ListedKey[] = []
  for await (const key of listedKeys({ endpoint, bucket: 'b', versions }, '')) found.push(key)
  return found
}
const version = (element: string, Key: string, VersionId: string): string =>
  `<${element}><Key>${Key}</Key><VersionId>${VersionId}</VersionId><IsLatest>false</IsLatest><LastModified>2026-01-02T03:04:05.000Z</LastModified>${
    element === 'Version' ? '<ETag>&quot;abc&quot;</ETag><Size>7</Size>' : ''
  }<Owner><ID>1</ID><DisplayName>Key</DisplayName></Owner></${element}>`

it('joins the versions of a key over two pages, in the order of the document, and decodes what is encoded', async () => {
  const head = '<Name>b</Name><EncodingType>url</EncodingType>'
  pages = {
    'key-marker=a%20b%2B': `<ListVersionsResult>${head}<IsTruncated>false</IsTruncated>${version('Version', 'a+b%2B', '1')}${version('Version', '%C3%A4%2Fz', '9')}</ListVersionsResult>`,
    versions: `<?xml version="1.0"?><ListVersionsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${head}<IsTruncated>true</IsTruncated><NextKeyMarker>a+b%2B</NextKeyMarker><NextVersionIdMarker>2</NextVersionIdMarker>${version('Version', 'a+b%2B', '3')}${version('DeleteMarker', 'a+b%2B', '2')}</ListVersionsResult>`,
  }
  const seen = { etag: 'abc', size: 7, isMarker: false, modifiedMs: Date.UTC(2026, 0, 2, 3, 4, 5) }
  expect(await keysIn('all')).toEqual([
    {
      key: 'a b+',
      versions: [
        { ...seen, versionId: '3' },
        { ...seen, versionId: '2', isMarker: true, etag: '', size: 0 },
        { ...seen, versionId: '1' },
      ],
    },
    { key: 'ä/z', versions: [{ ...seen, versionId: '9' }] },
  ])
})

it('takes keys as they are where the server did not encode them', async () => {
  pages = {
    'list-type=2': `<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>a+b%20</Key><Size>1</Size><ETag>x</ETag></Contents></ListBucketResult>`,
  }
  expect(await keysIn('current')).toMatchObject([{ key: 'a+b%20', versions: [{ etag: 'x', size: 1 }] }])
})

it('says so when what answers is not an S3 endpoint', async () => {
  pages = { 'list-type=2': '<!doctype html><p>Welcome' }
  await expect(keysIn('current')).rejects.toThrow(/its answer is not XML; is it an S3 endpoint/)
})

it('ends when a server gives the same page again and again', async () => {
  const entry = version('Version', 'a', '1')
  pages = {
    versions: `<ListVersionsResult><IsTruncated>true</IsTruncated><NextKeyMarker>a</NextKeyMarker>${entry}</ListVersionsResult>`,
  }
  await expect(keysIn('all')).rejects.toThrow(/the listing of b repeats a page/)
})

it('goes on with buckets where a page ends', async () => {
  const page = (name: string, more: string): string =>
    `<ListAllMyBucketsResult><Buckets><Bucket><Name>${name}</Name></Bucket></Buckets>${more}</ListAllMyBucketsResult>`
  pages = {
    'continuation-token=next': page('two', ''),
    '/': page('one', '<ContinuationToken>next</ContinuationToken>'),
  }
  expect(await bucketNames(endpoint)).toEqual(['one', 'two'])
})
