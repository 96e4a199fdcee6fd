/** Copies one version: its bytes, and what is said about it. Every copy is verified. */
import { isMultipart } from './compare.ts'
import { copyParts } from './copy-parts.ts'
import { etagOf, md5Of, originalTime, takenChecksum, takenHeaders } from './described.ts'
import { importLimits } from './import-limits.ts'
import type { SeenVersion } from './listing.ts'
import { asksForLock, bodyOf, type Route, takenTags, withDigest } from './route.ts'

/** Rejects with `TransferFailed`. After that, the version may be there all the same. */
export async function copyVersion(route: Route, key: string, version: SeenVersion): Promise<void> {
  if (version.isMarker) {
    await route.target.read({ method: 'DELETE', bucket: route.to, key, headers: originalTime(version) })
    return
  }
  const needsParts = isMultipart(version) || version.size > importLimits.putBytesMax
  await (needsParts ? copyParts : copyWhole)(route, key, version)
}

async function copyWhole(route: Route, key: string, version: SeenVersion): Promise<void> {
  const { versionId } = version
  const { source, target, from, to, ignoreEtags, clock } = route
  const read = { bucket: from, key, query: { versionId } }
  const answer = await source.ask({ method: 'GET', ...read, headers: { 'x-amz-checksum-mode': 'ENABLED' } })
  const { headers } = answer
  try {
    const tags = await takenTags(route, key, versionId, headers)
    const md5 = ignoreEtags ? undefined : md5Of(etagOf(headers), headers)
    const sent = {
      ...takenHeaders(headers, clock.now()),
      ...takenChecksum(headers),
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
