/** Copies one version with its headers and tags. Every copy is verified. */
import { isMultipart } from './compare.ts'
import { copiedChecksum, copiedHeaders, etagOf, md5Of, originalTime } from './copied-headers.ts'
import { copyParts } from './copy-parts.ts'
import { importLimits } from './import-limits.ts'
import type { ListedVersion } from './listing.ts'
import { asksForLock, bodyOf, copiedTags, type Route, withDigest } from './route.ts'

/** Rejects with `TransferFailed`. The version may have been written nevertheless. */
export async function copyVersion(route: Route, key: string, version: ListedVersion): Promise<void> {
  if (version.isMarker) {
    await route.target.read({ method: 'DELETE', bucket: route.to, key, headers: originalTime(version) })
    return
  }
  const needsParts = isMultipart(version) || version.size > importLimits.putBytesMax
  await (needsParts ? copyParts : copyWhole)(route, key, version)
}

async function copyWhole(route: Route, key: string, version: ListedVersion): Promise<void> {
  const { versionId } = version
  const { source, target, from, to, ignoreEtags, clock } = route
  const read = { bucket: from, key, query: { versionId } }
  const answer = await source.ask({ method: 'GET', ...read, headers: { 'x-amz-checksum-mode': 'ENABLED' } })
  const { headers } = answer
  try {
    const tags = await copiedTags(route, key, versionId, headers)
    const md5 = ignoreEtags ? undefined : md5Of(etagOf(headers), headers)
    const sent = {
      ...copiedHeaders(headers, clock.now()),
      ...copiedChecksum(headers),
      ...tags,
      ...originalTime(version),
      ...(md5 === undefined ? {} : { 'content-md5': md5 }),
    }
    const write = withDigest({ headers: sent, body: await bodyOf(answer) }, asksForLock(sent))
    await target.read({ method: 'PUT', bucket: to, key, ...write })
  } finally {
    answer.body.destroy()
  }
}
