/** A server over memory for wire tests: two accounts, and the log line of every request, by which a test knows what the server took it for. */

import { isDeepStrictEqual } from 'node:util'
import type { Account, AccountKey } from '../../src/auth/credentials.ts'
import { type Clock, systemClock } from '../../src/clock.ts'
import type { Backend } from '../../src/commits/backend.ts'
import { codesOf, codesOfAnyRequest } from '../../src/contract/error-causes.ts'
import type { HttpBounds } from '../../src/http/connections/bounds.ts'
import { createHttpServer } from '../../src/http/s3-server.ts'
import type { RequestLog } from '../../src/http/telemetry/request-log.ts'
import type { Identities } from '../../src/identities/identities.ts'
import { openIdentities } from '../../src/identities/open-identities.ts'
import { openAccountBlocks } from '../../src/opening/account-blocks.ts'
import { openMemoryData } from '../../src/opening/open-memory.ts'
import { emptyStore } from '../../src/opening/placement/empty-store.ts'
import { openTemporaryKeys } from '../../src/opening/temporary-keys.ts'
import { operations } from '../../src/operations/table.ts'
import type { PublicAccessBlock } from '../../src/records/bucket-record.ts'
import type { OidcProvider } from '../../src/sts/oidc/provider-settings.ts'
import { stsActions } from '../../src/sts/sts.ts'
import type { StsErrorCode } from '../../src/sts/sts-error.ts'
import { type KeptState, keepState } from './kept-state.ts'
import { wireMetadata } from './wire-metadata.ts'

/** The account that sends, unless a test says otherwise. */
export const mainKey = { accessKeyId: 'AKMAIN', secretAccessKey: 'main-secret-of-the-wire-tests' }
/** A key of the same account that may only delete. It may not bypass a lock. */
export const deletingKey = { accessKeyId: 'AKDELETING', secretAccessKey: 'deleting-secret-of-the-wire-tests' }
export const otherKey = { accessKeyId: 'AKOTHER', secretAccessKey: 'other-secret-of-the-wire-tests' }

/** A key for SSE-KMS, beside the default one. */
export const kmsKeyName = 'invoices'
/** The webhook that buckets can tell of events. Nothing is delivered to it here. */
export const webhookName = 'primary'
/** The site that takes copies. Nothing is copied here. */
export const siteName = 'paris'

const openSite = { mayUse: () => true, fault: async () => undefined }

const accountsWith = (mainKeys: readonly AccountKey[]): readonly Account[] => [
  { id: 'main', name: 'Main', keys: [mainKey, { ...deletingKey, permissions: ['s3:DeleteObject*'] }, ...mainKeys] },
  { id: 'other', name: 'Other', keys: [otherKey] },
]

export interface WireServer {
  port: number
  /** Users and keys that are made while the server runs. They stay when it is emptied. */
  identities: Identities
  /** Resolves when the request's line has been logged. */
  logged(requestId: string): Promise<RequestLog>
  /** Errors that no table foresees, of all requests so far: each is a bug. */
  unexpected: unknown[]
  /** Removes all buckets, and what their accounts block. */
  empty(): Promise<void>
  /** What is stored now, until `empty`. What the main account blocks belongs to it. */
  keep(): Promise<KeptState>
  /** Throws when an operation answered an error that it does not declare. */
  close(): Promise<void>
}

export interface WireServerOptions {
  bounds?: Partial<HttpBounds>
  clock?: Clock
  region?: string
  corsAllowOrigin?: readonly string[]
  sigv2?: 'off' | 'presigned' | 'all'
  blockPublic?: boolean
  /** Further keys of the main account. */
  keys?: readonly AccountKey[]
  oidc?: readonly OidcProvider[]
  /** The PostgreSQL server for its metadata. Absent: as `wireMetadata` says. */
  metadataUrl?(): string
  /** What the server is given for the store over memory: slowed down, or watched. */
  over?(backend: Backend): Backend
}

/** Codes for requests for temporary keys, in addition to those for any request. */
const stsCodes: readonly StsErrorCode[] = [
  'AccessDenied',
  'ExpiredToken',
  'IncompleteSignature',
  'InternalFailure',
  'InvalidClientTokenId',
  'MissingAuthenticationToken',
  'NotImplemented',
  'ValidationError',
]

const answerable = new Map<string, ReadonlySet<string>>([
  ...operations.map((operation) => [operation.name, codesOf(operation)] as const),
  ...stsActions.map(({ name, errors }) => [name, new Set([...codesOfAnyRequest, ...stsCodes, ...errors])] as const),
])

/** Codes for requests that name no existing operation. */
const codesOfNone = new Set<string>([
  ...codesOfAnyRequest,
  ...stsCodes,
  'InvalidAction',
  'MissingAction',
  'EntityTooLarge',
  'MissingContentLength',
  'IncompleteBody',
  'XAmzContentSHA256Mismatch',
])
answerable.set(
  'Website',
  new Set(['GetObject', 'GetBucketWebsite'].flatMap((name) => [...(answerable.get(name) ?? [])])),
)

/** Operation and code of an error that the documentation would not lead a client to expect. */
function undeclared({ operation, code }: RequestLog): string | undefined {
  if (code === '' || code === 'ClientGone') return undefined
  const codes: ReadonlySet<string> = answerable.get(operation) ?? codesOfNone
  return codes.has(code) ? undefined : `${operation === '' ? 'a request of no operation' : operation}: ${code}`
}

export async function startWireServer({
  bounds = {},
  clock = systemClock,
  region = 'us-east-1',
  corsAllowOrigin = [],
  sigv2 = 'presigned',
  blockPublic = false,
  keys = [],
  oidc = [],
  metadataUrl,
  over = (backend) => backend,
}: WireServerOptions = {}): Promise<WireServer> {
  const memory = openMemoryData([kmsKeyName])
  const metadata = await wireMetadata(memory.backend, metadataUrl?.())
  const { backend } = metadata
  const lines = new Map<string, RequestLog>()
  const waiting = new Map<string, (line: RequestLog) => void>()
  const unexpected: unknown[] = []
  const surprises = new Set<string>()
  const warn = (message: string): void => void unexpected.push(message)
  const identities = await openIdentities({ backend: { ...backend, clock }, accounts: accountsWith(keys), warn })
  const { credentials } = identities
  const server = createHttpServer({
    operations,
    backend: over({ ...backend, webhooks: new Set([webhookName]), sites: new Map([[siteName, openSite]]) }),
    credentials,
    sts: openTemporaryKeys({ ring: backend.keys, credentials, oidc, clock }),
    domains: [],
    region,
    corsAllowOrigin,
    websiteDomains: ['site.test'],
    accountBlocks: openAccountBlocks(identities, { blockPublic }),
    sigv2,
    clock,
    ready: () => true,
    // Most of what is sent here is refused. That refusals are slowed down is for `test/http` to show.
    bounds: { lingerMs: 200, refusalCostMs: 0, ...bounds },
    log: (line) => {
      if (line.error !== undefined) unexpected.push(line.error)
      const surprise = undeclared(line)
      if (surprise !== undefined) surprises.add(surprise)
      lines.set(line.requestId, line)
      waiting.get(line.requestId)?.(line)
    },
  })
  const { port } = await server.listen('127.0.0.1', 0)
  const setBlock = async (block: PublicAccessBlock | undefined): Promise<void> => {
    if (!isDeepStrictEqual(identities.publicAccessBlock('main'), block))
      await identities.verbs.accounts.setPublicAccessBlock('main', block)
  }
  return {
    port,
    identities: identities.verbs,
    unexpected,
    logged: (requestId) =>
      new Promise((resolve) => {
        const line = lines.get(requestId)
        if (line === undefined) waiting.set(requestId, resolve)
        else resolve(line)
      }),
    empty: async () => {
      await emptyStore(backend)
      await setBlock(undefined)
    },
    keep: async () => {
      const state = await keepState(backend)
      const block = identities.publicAccessBlock('main')
      const blockChanges = (): string[] =>
        isDeepStrictEqual(identities.publicAccessBlock('main'), block) ? [] : ['the block of the account']
      return {
        changes: async () => [...(await state.changes()), ...blockChanges()],
        restore: async () => {
          await state.restore()
          await setBlock(block)
        },
      }
    },
    close: async () => {
      await server.close()
      await identities.close()
      await metadata.close()
      await memory.close()
      if (surprises.size > 0) throw new Error(`errors that are not declared: ${[...surprises].join(', ')}`)
    },
  }
}
