/** Creates the bucket that an import fills, and copies the settings of the source bucket. */
import { hash } from 'node:crypto'
import type { Endpoint } from '../endpoint/endpoint.ts'
import { EndpointRefused } from '../endpoint/failures.ts'
import { childText, elementsNamed, readXml } from '../endpoint/xml.ts'
import { ImportRefused } from './failures.ts'

export interface BucketRoute {
  source: Endpoint
  target: Endpoint
  from: string
  to: string
  /** Reports that a setting was not copied, and why. */
  skipped(setting: string, reason: string): void
}

export type Versioning = 'Enabled' | 'Suspended' | undefined

/** A setting of a bucket, which has a subresource of its own. */
interface Setting {
  query: string
  /** For people. */
  name: string
  /** The root element of its document. Absent: it is JSON. Servers that do not know a setting may answer with something else. */
  root?: string
  /** The element that a document has only if something is set. Absent: every document sets something. */
  needs?: string
}

const objectLock: Setting = { query: 'object-lock', name: 'Object Lock', root: 'ObjectLockConfiguration' }

/** Guards and descriptions of the bucket. They are set before the first object is copied. */
const beforeObjects: readonly Setting[] = [
  { query: 'tagging', name: 'tags', root: 'Tagging' },
  { query: 'cors', name: 'CORS rules', root: 'CORSConfiguration' },
  { query: 'encryption', name: 'default encryption', root: 'ServerSideEncryptionConfiguration' },
  { query: 'ownershipControls', name: 'object ownership', root: 'OwnershipControls' },
  { query: 'publicAccessBlock', name: 'public access block', root: 'PublicAccessBlockConfiguration' },
  { query: 'policy', name: 'policy' },
  { query: 'website', name: 'website', root: 'WebsiteConfiguration' },
]

/** Settings that would act on copies as they arrive: rules could remove them, or lock those that have no lock. */
const afterObjects: readonly Setting[] = [
  { query: 'lifecycle', name: 'lifecycle rules', root: 'LifecycleConfiguration' },
  { ...objectLock, name: 'default retention', needs: 'Rule' },
]

export async function versioningOf(endpoint: Endpoint, bucket: string): Promise<Versioning> {
  try {
    const root = await endpoint.readDocument({ method: 'GET', bucket, query: { versioning: '' } })
    const status = childText(root, 'Status')
    return status === 'Enabled' || status === 'Suspended' ? status : undefined
  } catch (error) {
    // Some servers have no versions.
    if (error instanceof EndpointRefused && error.status === 501) return undefined
    throw error
  }
}

export async function hasBucket(endpoint: Endpoint, bucket: string): Promise<boolean> {
  return (await endpoint.readIfAny({ method: 'HEAD', bucket })) !== undefined
}

/** `versioning`: that of the source, if versions are imported. */
export async function prepareBucket(route: BucketRoute, versioning: Versioning): Promise<void> {
  const { source, target, from, to } = route
  const lock = await readSetting(source, from, objectLock)
  if (!(await hasBucket(target, to))) {
    await makeBucket(target, to, lock === undefined ? {} : { 'x-amz-bucket-object-lock-enabled': 'true' })
  } else if (lock !== undefined && (await readSetting(target, to, objectLock)) === undefined) {
    throw new ImportRefused(
      `${from} has Object Lock, but ${to} exists here without it: remove ${to}, or import to a bucket of another name`,
    )
  }
  if (versioning !== undefined && (await versioningOf(target, to)) !== 'Enabled')
    await setVersioning(target, to, 'Enabled')
  await copySettings(route, beforeObjects)
}

async function makeBucket(endpoint: Endpoint, bucket: string, headers: Record<string, string>): Promise<void> {
  try {
    await endpoint.read({ method: 'PUT', bucket, headers })
  } catch (error) {
    // An earlier attempt created it, but its answer got lost.
    const isMade = error instanceof EndpointRefused && error.code === 'BucketAlreadyOwnedByYou'
    if (!isMade) throw error
  }
}

export async function finishBucket(route: BucketRoute, versioning: Versioning): Promise<void> {
  await copySettings(route, afterObjects)
  if (versioning === 'Suspended') await setVersioning(route.target, route.to, 'Suspended')
}

async function setVersioning(endpoint: Endpoint, bucket: string, status: 'Enabled' | 'Suspended'): Promise<void> {
  const body = Buffer.from(`<VersioningConfiguration><Status>${status}</Status></VersioningConfiguration>`)
  await endpoint.read({ method: 'PUT', bucket, query: { versioning: '' }, body })
}

/** Leaves settings that the target has already. */
async function copySettings(route: BucketRoute, settings: readonly Setting[]): Promise<void> {
  const { source, target, from, to, skipped } = route
  for (const setting of settings) {
    try {
      const document = await readSetting(source, from, setting)
      if (document === undefined || (await readSetting(target, to, setting)) !== undefined) continue
      const body = Buffer.from(document)
      const headers = { 'content-md5': hash('md5', body, 'base64') }
      await target.read({ method: 'PUT', bucket: to, query: { [setting.query]: '' }, headers, body })
    } catch (error) {
      if (!(error instanceof EndpointRefused)) throw error
      skipped(setting.name, error.message)
    }
  }
}

const isAbsent = ({ status }: EndpointRefused): boolean => status === 404 || status === 501 || status === 405

/** The document. `undefined`: the bucket has no such setting, or the endpoint does not know it. */
async function readSetting(endpoint: Endpoint, bucket: string, setting: Setting): Promise<string | undefined> {
  try {
    const { content } = await endpoint.read({ method: 'GET', bucket, query: { [setting.query]: '' } })
    const document = content.toString('utf8')
    return isSet(document, setting) ? document : undefined
  } catch (error) {
    if (error instanceof EndpointRefused && isAbsent(error)) return undefined
    throw error
  }
}

function isSet(document: string, { root, needs }: Setting): boolean {
  if (root === undefined) return document.startsWith('{')
  const read = readXml(document)
  return read?.name === root && (needs === undefined || elementsNamed(read, needs).length > 0)
}
