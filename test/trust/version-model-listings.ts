/** Walks listings page by page, and compares each page with the stretch of the model's list that it must show. */
import { expect } from 'vitest'
import type { DirectClient } from './direct-client.ts'
import type { ModelBucket } from './version-model.ts'

export interface ListAsk {
  prefix: string
  delimiter: string
  /** Entries a page. */
  page: number
  /** Only keys behind this one; the delimiter is left out then. */
  after?: string | undefined
}

/** One entry of a listing, of whatever kind. */
interface Shown {
  kind: 'object' | 'marker' | 'group'
  name: string
  id?: string | undefined
  latest?: boolean | undefined
}

interface Page {
  shown: Shown[]
  /** Inputs that ask for the next page. */
  next: Record<string, unknown> | undefined
}

export function expectVersionListing(client: DirectClient, model: ModelBucket, ask: ListAsk): Promise<void> {
  const entries = model.listedVersions().map(
    ({ key, version, latest }): Shown => ({
      kind: version.marker ? 'marker' : 'object',
      name: key,
      id: version.id,
      latest,
    }),
  )
  return expectPages(entries, ask, async (input) => {
    const { body } = await client.must('ListObjectVersions', {}, { keyMarker: ask.after, ...input })
    return versionPage(body as VersionsBody)
  })
}

export function expectListing(client: DirectClient, model: ModelBucket, ask: ListAsk): Promise<void> {
  const entries = model.listedKeys().map((name): Shown => ({ kind: 'object', name }))
  return expectPages(entries, ask, async (input) => {
    const { body } = await client.must('ListObjectsV2', {}, { startAfter: ask.after, ...input })
    return objectPage(body as ObjectsBody)
  })
}

async function expectPages(
  entries: readonly Shown[],
  { prefix, page, after, ...rest }: ListAsk,
  read: (input: Record<string, unknown>) => Promise<Page>,
): Promise<void> {
  const delimiter = after === undefined ? rest.delimiter : ''
  const expected = folded(entries.filter(isListed), prefix, delimiter)
  let shownBefore = 0
  let input: Record<string, unknown> = { prefix, delimiter, maxKeys: page }
  while (true) {
    const { shown, next } = await read(input)
    expect(shown.length).toBeLessThanOrEqual(page)
    // Versions and markers come in lists of their own: the page is compared by kind, each in its order.
    expect(inOrder(shown)).toEqual(inOrder(expected.slice(shownBefore, shownBefore + shown.length)))
    shownBefore += shown.length
    if (next === undefined) break
    expect(shown.length).toBeGreaterThan(0)
    input = { ...input, ...next }
  }
  expect(shownBefore).toBe(expected.length)

  function isListed({ name }: Shown): boolean {
    return name.startsWith(prefix) && (after === undefined || Buffer.compare(Buffer.from(name), Buffer.from(after)) > 0)
  }
}

/** Names that share what stands before the first delimiter behind the prefix become one entry. */
function folded(entries: readonly Shown[], prefix: string, delimiter: string): Shown[] {
  const shown: Shown[] = []
  for (const entry of entries) {
    const at = delimiter === '' ? -1 : entry.name.indexOf(delimiter, prefix.length)
    if (at < 0) shown.push(entry)
    else {
      const name = entry.name.slice(0, at + delimiter.length)
      if (!shown.some((other) => other.kind === 'group' && other.name === name)) shown.push({ kind: 'group', name })
    }
  }
  return shown
}

/** Versions and delete markers stand in one order, groups behind them. */
function inOrder(shown: readonly Shown[]): Record<'entries' | 'groups', Shown[]> {
  return {
    entries: shown.filter(({ kind }) => kind !== 'group'),
    groups: shown.filter(({ kind }) => kind === 'group'),
  }
}

interface Group {
  Prefix: string
}

interface VersionElement {
  Key: string
  VersionId: string
  IsLatest: boolean
}

interface VersionsBody {
  Entries: { element: 'Version' | 'DeleteMarker'; value: VersionElement }[]
  CommonPrefixes: Group[]
  IsTruncated: boolean
  NextKeyMarker?: string
  NextVersionIdMarker?: string
}

interface ObjectsBody {
  Contents: { Key: string }[]
  CommonPrefixes: Group[]
  IsTruncated: boolean
  NextContinuationToken?: string
}

const group = ({ Prefix }: Group): Shown => ({ kind: 'group', name: Prefix })

const version = ({ element, value }: VersionsBody['Entries'][number]): Shown => ({
  kind: element === 'Version' ? 'object' : 'marker',
  name: value.Key,
  id: value.VersionId,
  latest: value.IsLatest,
})

function versionPage(body: VersionsBody): Page {
  const { Entries, CommonPrefixes, NextKeyMarker: keyMarker, NextVersionIdMarker: versionIdMarker } = body
  expect(keyMarker !== undefined).toBe(body.IsTruncated)
  return {
    shown: [...Entries.map(version), ...CommonPrefixes.map(group)],
    next: body.IsTruncated ? { keyMarker, versionIdMarker } : undefined,
  }
}

function objectPage({ Contents, CommonPrefixes, IsTruncated, NextContinuationToken }: ObjectsBody): Page {
  expect(NextContinuationToken !== undefined).toBe(IsTruncated)
  return {
    shown: [...Contents.map(({ Key }): Shown => ({ kind: 'object', name: Key })), ...CommonPrefixes.map(group)],
    next: IsTruncated ? { continuationToken: NextContinuationToken } : undefined,
  }
}
