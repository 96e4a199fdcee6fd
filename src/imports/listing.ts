/** The keys of a bucket and their versions, page by page. */
import type { Endpoint } from '../endpoint/endpoint.ts'
import { childText, elementsNamed, type XmlElement } from '../endpoint/xml.ts'
import { ImportRefused } from './failures.ts'

/** A version as a listing shows it. */
export interface ListedVersion {
  isMarker: boolean
  /** Absent: the bucket has no versions. */
  versionId: string | undefined
  size: number
  /** Without quotes. Empty for a delete marker. */
  etag: string
  modifiedMs: number
}

export interface ListedKey {
  key: string
  /** The newest first. */
  versions: readonly ListedVersion[]
}

export interface ListedBucket {
  endpoint: Endpoint
  bucket: string
  /** All versions, or only the current objects. */
  versions: 'all' | 'current'
}

/** The keys that start with `prefix`, in the endpoint's order. Rejects with `TransferFailed`. */
export async function* listedKeys(
  { endpoint, bucket, versions }: ListedBucket,
  prefix: string,
): AsyncGenerator<ListedKey> {
  const listing = versions === 'all' ? versionListing : objectListing
  let group: { key: string; versions: ListedVersion[] } | undefined
  let at: Record<string, string> | undefined = {}
  while (at !== undefined) {
    const query = { ...listing.query, prefix, 'encoding-type': 'url', ...at }
    const page = await endpoint.readDocument({ method: 'GET', bucket, query })
    const decode = childText(page, 'EncodingType') === 'url' ? urlDecoded : same
    for (const element of page.children) {
      if (!listing.elements.includes(element.name)) continue
      const key = decode(childText(element, 'Key') ?? '')
      if (group?.key !== key) {
        if (group !== undefined) yield group
        group = { key, versions: [] }
      }
      group.versions.push(listedVersion(element))
    }
    const next = listing.next(page, decode)
    if (next !== undefined && JSON.stringify(next) === JSON.stringify(at)) {
      throw new ImportRefused(`${endpoint.name}: the listing of ${bucket} repeats a page`)
    }
    at = next
  }
  if (group !== undefined) yield group
}

/** The versions of one key. */
export async function versionsOf(listed: ListedBucket, key: string): Promise<ListedKey> {
  for await (const found of listedKeys(listed, key)) {
    // The key itself sorts before all others that start with it.
    return found.key === key ? found : { key, versions: [] }
  }
  return { key, versions: [] }
}

export async function bucketNames(endpoint: Endpoint): Promise<string[]> {
  const names: string[] = []
  let token: string | undefined
  do {
    const page = await endpoint.readDocument({ method: 'GET', query: { 'continuation-token': token } })
    names.push(...elementsNamed(page, 'Bucket').map((bucket) => childText(bucket, 'Name') ?? ''))
    token = childText(page, 'ContinuationToken')
  } while (token !== undefined && token !== '')
  return names
}

interface Listing {
  query: Record<string, string>
  /** The elements that describe versions. */
  elements: readonly string[]
  /** The query of the next page. `undefined`: this was the last one. */
  next(page: XmlElement, decode: (text: string) => string): Record<string, string> | undefined
}

const versionListing: Listing = {
  query: { versions: '', 'max-keys': '1000' },
  elements: ['Version', 'DeleteMarker'],
  next(page, decode) {
    if (!isTruncated(page)) return undefined
    const marker = { 'key-marker': decode(childText(page, 'NextKeyMarker') ?? '') }
    const versionId = childText(page, 'NextVersionIdMarker')
    return versionId === undefined || versionId === '' ? marker : { ...marker, 'version-id-marker': versionId }
  },
}

const objectListing: Listing = {
  query: { 'list-type': '2', 'max-keys': '1000' },
  elements: ['Contents'],
  next: (page) =>
    isTruncated(page) ? { 'continuation-token': childText(page, 'NextContinuationToken') ?? '' } : undefined,
}

const isTruncated = (page: XmlElement): boolean => childText(page, 'IsTruncated') === 'true'

function listedVersion(element: XmlElement): ListedVersion {
  const modifiedMs = Date.parse(childText(element, 'LastModified') ?? '')
  return {
    isMarker: element.name === 'DeleteMarker',
    versionId: childText(element, 'VersionId'),
    size: Number(childText(element, 'Size') ?? 0),
    etag: (childText(element, 'ETag') ?? '').replaceAll('"', ''),
    modifiedMs: Number.isNaN(modifiedMs) ? 0 : modifiedMs,
  }
}

const same = (text: string): string => text

/** S3 writes a space as a plus sign in listings. */
function urlDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new ImportRefused(`a key is not UTF-8: ${text}`)
  }
}
