/** The schemas of the admin port's inputs and answers: identities as JSON. Only the one that shows a new key holds a secret. */
import { z } from 'zod'
import type {
  AccountEntry,
  IssuedKey,
  KeyEntry,
  NamedDocument,
  PolicyEntry,
  UserEntry,
} from '../identities/identities.ts'
import { isoTime } from '../time-text.ts'

/** Longer than any valid name. The identities check which names are valid. */
const nameCharsMax = 256

export const noInput = z.strictObject({})
export const name = z.string().min(1).max(nameCharsMax)
/** A policy's document: JSON, or its text. */
export const policyDocument = z.union([z.record(z.string(), z.unknown()), z.string()])
/** A time with a zone. It may be in the past. */
export const time = z.iso.datetime({ offset: true })
export const tags = z
  .array(z.strictObject({ key: z.string(), value: z.string() }))
  .max(50)
  .readonly()

const source = z.enum(['configuration', 'run-time'])

export const publicAccessBlock = z.strictObject({
  blockPublicAcls: z.boolean(),
  ignorePublicAcls: z.boolean(),
  blockPublicPolicy: z.boolean(),
  restrictPublicBuckets: z.boolean(),
})

export const accountView = z.object({
  id: z.string(),
  name: z.string(),
  source,
  enabled: z.boolean(),
  created: z.string().optional(),
  publicAccessBlock: publicAccessBlock.optional(),
})

const document = z.object({ name: z.string(), document: z.string() })

export const userView = z.object({
  account: z.string(),
  name: z.string(),
  id: z.string(),
  enabled: z.boolean(),
  created: z.string(),
  policies: z.array(z.string()),
  inlinePolicies: z.array(document),
  tags: z.array(z.object({ key: z.string(), value: z.string() })),
})

export const policyView = document.extend({
  account: z.string(),
  builtIn: z.boolean(),
  changed: z.string().optional(),
  users: z.array(z.string()),
})

export const keyView = z.object({
  accessKeyId: z.string(),
  account: z.string(),
  user: z.string().optional(),
  source,
  enabled: z.boolean(),
  expires: z.string().optional(),
  policy: z.string().optional(),
  permissions: z.array(z.string()).optional(),
  description: z.string().optional(),
  created: z.string().optional(),
  rotated: z.string().optional(),
})

/** The only answer with the secret, which is shown once. */
export const issuedKeyView = keyView.extend({ secretAccessKey: z.string() })

const timeOf = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : isoTime(ms))

export const msOf = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Date.parse(text)

export const textOf = (given: z.output<typeof policyDocument>): string =>
  typeof given === 'string' ? given : JSON.stringify(given)

export function showAccount(entry: AccountEntry): z.input<typeof accountView> {
  const { id, name: shown, source: from, disabled, createdMs, publicAccessBlock: block } = entry
  return { id, name: shown, source: from, enabled: !disabled, created: timeOf(createdMs), publicAccessBlock: block }
}

export function showUser(entry: UserEntry): z.input<typeof userView> {
  const { accountId, disabled, createdMs, policies, inlinePolicies, ...rest } = entry
  return {
    ...rest,
    account: accountId,
    enabled: !disabled,
    created: isoTime(createdMs),
    policies: [...policies],
    inlinePolicies: inlinePolicies.map((one: NamedDocument) => ({ ...one })),
    tags: [...rest.tags],
  }
}

export function showPolicy({ accountId, changedMs, users, ...rest }: PolicyEntry): z.input<typeof policyView> {
  return { ...rest, account: accountId, changed: timeOf(changedMs), users: [...users] }
}

export function showKey(entry: KeyEntry): z.input<typeof keyView> {
  const { accountId, disabled, expiresMs, createdMs, rotatedMs, permissions, ...rest } = entry
  return {
    ...rest,
    account: accountId,
    enabled: !disabled,
    expires: timeOf(expiresMs),
    created: timeOf(createdMs),
    rotated: timeOf(rotatedMs),
    permissions: permissions && [...permissions],
  }
}

export const showIssuedKey = (entry: IssuedKey): z.input<typeof issuedKeyView> => ({
  ...showKey(entry),
  secretAccessKey: entry.secretAccessKey,
})
