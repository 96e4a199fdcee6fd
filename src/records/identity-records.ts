/** Records of accounts, users, policies and keys that are made at run time. The metadata and its snapshots hold them; shards do not. */
import type { PublicAccessBlock } from './bucket-record.ts'
import type { Tag } from './object-attributes.ts'
import { jsonCodec } from './record-format.ts'

export interface AccountRecord {
  /** Display name. */
  name: string
  createdMs: number
  disabled?: true | undefined
}

/** Settings of an account. The account itself is made at run time or declared in the configuration. */
export interface AccountSettingsRecord {
  publicAccessBlock?: PublicAccessBlock | undefined
}

export interface NamedDocument {
  name: string
  /** JSON, as it was put. */
  document: string
}

export interface UserRecord {
  /** Never reused for another user. */
  id: string
  createdMs: number
  disabled?: true | undefined
  /** Names of attached policies. */
  policies: readonly string[]
  inlinePolicies: readonly NamedDocument[]
  tags: readonly Tag[]
}

export interface PolicyRecord {
  /** JSON, as it was put. */
  document: string
  changedMs: number
}

/** A secret as it is stored. Only the key ring opens it. */
export interface SealedSecret {
  /** Base64. */
  sealed: string
  /** Which key of the ring sealed it. */
  sealedBy: { name: string; id: string }
}

export interface KeyRecord {
  accountId: string
  /** Identity id of the user. Absent: a key of the account itself. */
  userId?: string | undefined
  createdMs: number
  rotatedMs?: number | undefined
  disabled?: true | undefined
  expiresMs?: number | undefined
  policy?: string | undefined
  description?: string | undefined
  secret: SealedSecret
}

/** Every change of identities writes it, in the same commit. */
export interface GenerationRecord {
  generation: number
}

export const accountCodec = jsonCodec<AccountRecord>()
export const accountSettingsCodec = jsonCodec<AccountSettingsRecord>()
export const userCodec = jsonCodec<UserRecord>()
export const policyCodec = jsonCodec<PolicyRecord>()
export const keyCodec = jsonCodec<KeyRecord>()
export const generationCodec = jsonCodec<GenerationRecord>()
