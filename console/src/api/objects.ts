/** Objects and their versions, as S3 lists, describes and changes them. */
import { elementsOf, type ListedElement, listingContent, textIn } from './listing-text.ts'
import { askForXml, askS3, askUnlessAbsent, presignedUrl, type Query } from './s3-request.ts'
import { percentEncode } from './sigv4.ts'
import { childrenOf, textOf } from './xml.ts'
import { document } from './xml-text.ts'

export interface ListedObject {
  key: string
  bytes: number
  modified: string
}

export interface ListedVersion extends ListedObject {
  versionId: string
  isLatest: boolean
  isDeleteMarker: boolean
}

export interface ObjectPage<T> {
  entries: T[]
  prefixes: string[]
  /** What the request for the next page needs. Absent: this is the last page. */
  next: Readonly<Record<string, string>> | undefined
}

export interface Listing {
  bucket: string
  prefix: string
  /** Absent: the listing includes the keys below folders. */
  delimiter?: string
  next?: Readonly<Record<string, string>> | undefined
  signal?: AbortSignal
}

const decoded = (text: string | undefined): string => decodeURIComponent((text ?? '').replaceAll('+', '%20'))

export async function listObjects({
  bucket,
  prefix,
  delimiter,
  next,
  signal,
}: Listing): Promise<ObjectPage<ListedObject>> {
  const query = { 'list-type': 2, prefix, delimiter, 'encoding-type': 'url', ...next }
  const page = await askForPage('ListBucketResult', bucket, query, signal)
  const token = textIn(page, 'NextContinuationToken')
  return {
    entries: elementsOf(page, 'Contents').map(listedObject),
    prefixes: prefixesOf(page),
    next: token === undefined ? undefined : { 'continuation-token': token },
  }
}

export async function listVersions({
  bucket,
  prefix,
  delimiter,
  next,
  signal,
}: Listing): Promise<ObjectPage<ListedVersion>> {
  const query = { versions: '', prefix, delimiter, 'encoding-type': 'url', ...next }
  const page = await askForPage('ListVersionsResult', bucket, query, signal)
  const key = textIn(page, 'NextKeyMarker')
  const id = textIn(page, 'NextVersionIdMarker')
  const following = { 'key-marker': decoded(key), ...(id === undefined ? {} : { 'version-id-marker': id }) }
  return {
    entries: elementsOf(page, 'Version', 'DeleteMarker').map(listedVersion),
    prefixes: prefixesOf(page),
    next: textIn(page, 'IsTruncated') === 'true' && key !== undefined ? following : undefined,
  }
}

async function askForPage(root: string, bucket: string, query: Query, signal: AbortSignal | undefined) {
  const answer = await askS3({ bucket, query, ...(signal && { signal }) })
  return listingContent(await answer.text(), root)
}

const prefixesOf = (page: string): string[] =>
  elementsOf(page, 'CommonPrefixes').map(({ content }) => decoded(textIn(content, 'Prefix')))

const listedObject = ({ content }: ListedElement): ListedObject => ({
  key: decoded(textIn(content, 'Key')),
  bytes: Number(textIn(content, 'Size') ?? 0),
  modified: textIn(content, 'LastModified') ?? '',
})

const listedVersion = (element: ListedElement): ListedVersion => ({
  ...listedObject(element),
  versionId: textIn(element.content, 'VersionId') ?? 'null',
  isLatest: textIn(element.content, 'IsLatest') === 'true',
  isDeleteMarker: element.name === 'DeleteMarker',
})

export interface ObjectAddress {
  bucket: string
  key: string
  versionId?: string | undefined
}

const addressed = ({ bucket, key, versionId }: ObjectAddress, query: Readonly<Record<string, string>> = {}) => ({
  bucket,
  key,
  query: { ...query, versionId },
})

export interface Described {
  bytes: number
  contentType: string
  etag: string
  modified: string
  versionId: string | undefined
  /** The user's own metadata, by lower-case name. */
  metadata: Readonly<Record<string, string>>
  /** The other headers of the answer. */
  headers: Readonly<Record<string, string>>
}

export async function describeObject(address: ObjectAddress): Promise<Described> {
  const { headers } = await askS3({
    method: 'HEAD',
    ...addressed(address),
    headers: { 'x-amz-checksum-mode': 'ENABLED' },
  })
  const all = Object.fromEntries(headers)
  const prefix = 'x-amz-meta-'
  const metadata = Object.entries(all).flatMap(([name, value]) =>
    name.startsWith(prefix) ? [[name.slice(prefix.length), value]] : [],
  )
  return {
    bytes: Number(headers.get('content-length') ?? 0),
    contentType: headers.get('content-type') ?? '',
    etag: headers.get('etag') ?? '',
    modified: headers.get('last-modified') ?? '',
    versionId: headers.get('x-amz-version-id') ?? undefined,
    metadata: Object.fromEntries(metadata),
    headers: all,
  }
}

/** The first bytes of an object, for a preview. */
export async function readStart(address: ObjectAddress, bytes: number): Promise<Blob> {
  const answer = await askS3({ ...addressed(address), headers: bytes === 0 ? {} : { range: `bytes=0-${bytes - 1}` } })
  return answer.blob()
}

export type Tags = Readonly<Record<string, string>>

export const readTags = (xml: Element | undefined): Tags =>
  Object.fromEntries(
    [...(xml?.getElementsByTagNameNS('*', 'Tag') ?? [])].map((tag) => [
      textOf(tag, 'Key') ?? '',
      textOf(tag, 'Value') ?? '',
    ]),
  )

export const tagging = (tags: Tags): string =>
  document('Tagging', { TagSet: { Tag: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })) } })

export const objectTags = async (address: ObjectAddress): Promise<Tags> =>
  readTags(await askForXml(addressed(address, { tagging: '' })))

export async function putObjectTags(address: ObjectAddress, tags: Tags): Promise<void> {
  await askS3({ method: 'PUT', ...addressed(address, { tagging: '' }), body: tagging(tags) })
}

export type LockMode = 'GOVERNANCE' | 'COMPLIANCE'

export interface ObjectLock {
  hold: boolean
  retention: { mode: LockMode; until: string } | undefined
}

const noLock = ['NoSuchObjectLockConfiguration', 'InvalidRequest', 'ObjectLockConfigurationNotFoundError']

export async function objectLock(address: ObjectAddress): Promise<ObjectLock> {
  const [hold, retention] = await Promise.all([
    askUnlessAbsent(addressed(address, { 'legal-hold': '' }), ...noLock),
    askUnlessAbsent(addressed(address, { retention: '' }), ...noLock),
  ])
  const mode = retention && textOf(retention, 'Mode')
  const until = retention && textOf(retention, 'RetainUntilDate')
  const isMode = mode === 'GOVERNANCE' || mode === 'COMPLIANCE'
  return {
    hold: hold !== undefined && textOf(hold, 'Status') === 'ON',
    retention: isMode && until !== undefined ? { mode, until } : undefined,
  }
}

export async function putLegalHold(address: ObjectAddress, on: boolean): Promise<void> {
  const body = document('LegalHold', { Status: on ? 'ON' : 'OFF' })
  await askS3({ method: 'PUT', ...addressed(address, { 'legal-hold': '' }), body })
}

/** `bypass`: shortens or lifts a retention in governance mode. This takes a separate permission. */
export async function putRetention(
  address: ObjectAddress,
  lock: ObjectLock['retention'],
  bypass: boolean,
): Promise<void> {
  const body = document('Retention', lock === undefined ? {} : { Mode: lock.mode, RetainUntilDate: lock.until })
  const headers: Record<string, string> = bypass ? { 'x-amz-bypass-governance-retention': 'true' } : {}
  await askS3({ method: 'PUT', ...addressed(address, { retention: '' }), body, headers })
}

export interface Change {
  contentType: string
  metadata: Readonly<Record<string, string>>
}

const copySource = ({ bucket, key, versionId }: ObjectAddress): string =>
  `${bucket}/${key.split('/').map(percentEncode).join('/')}${versionId === undefined ? '' : `?versionId=${percentEncode(versionId)}`}`

/** Lets the server copy an object to a key. `change`: replaces its metadata. */
export async function copyObject(
  from: ObjectAddress,
  to: Omit<ObjectAddress, 'versionId'>,
  change?: Change,
): Promise<void> {
  const headers: Record<string, string> = { 'x-amz-copy-source': copySource(from) }
  if (change !== undefined) {
    headers['x-amz-metadata-directive'] = 'REPLACE'
    headers['content-type'] = change.contentType
    for (const [name, value] of Object.entries(change.metadata)) headers[`x-amz-meta-${name}`] = value
  }
  const answer = await askForXml({ method: 'PUT', ...to, headers })
  if (answer.localName === 'Error') throw new Error(textOf(answer, 'Message') ?? 'the copy failed')
}

export async function deleteVersion(address: ObjectAddress, bypass = false): Promise<void> {
  const headers: Record<string, string> = bypass ? { 'x-amz-bypass-governance-retention': 'true' } : {}
  await askS3({ method: 'DELETE', ...addressed(address), headers })
}

export interface FailedDelete {
  key: string
  code: string
  message: string
}

/** Deletes up to 1,000 keys or versions. Resolves with what was refused. */
export async function deleteMany(
  bucket: string,
  targets: readonly { key: string; versionId?: string }[],
): Promise<FailedDelete[]> {
  const body = document('Delete', {
    Quiet: true,
    Object: targets.map(({ key, versionId }) => ({ Key: key, VersionId: versionId })),
  })
  const xml = await askForXml({ method: 'POST', bucket, query: { delete: '' }, body })
  return childrenOf(xml, 'Error').map((each) => ({
    key: textOf(each, 'Key') ?? '',
    code: textOf(each, 'Code') ?? '',
    message: textOf(each, 'Message') ?? '',
  }))
}

/** A URL to give away, valid for at most seven days. `asFile`: browsers save the object instead of showing it. */
export function shareUrl(address: ObjectAddress, expiresSeconds: number, asFile = false): Promise<string> {
  const name = address.key.split('/').at(-1) ?? ''
  const disposition = `attachment; filename*=UTF-8''${percentEncode(name)}`
  const query: Readonly<Record<string, string>> = asFile ? { 'response-content-disposition': disposition } : {}
  return presignedUrl({ ...addressed(address, query), expiresSeconds })
}
