/** Validates accounts and their keys in the configuration. `auth` decides who signed a request. */
import type { Account } from '../auth/credentials.ts'
import { lazySchema } from '../lazy-schema.ts'
import { limits } from '../limits.ts'
import { ConfigurationError } from './configuration-error.ts'
import { awsCredentialPair, credentialPairs } from './options.ts'
import { parseWith } from './parse-with.ts'
import { refuseRepeated } from './refuse-repeated.ts'

export interface AccessKey {
  accessKeyId: string
  secretAccessKey: string
}

/** The account of the key from the environment or the first start. In TOML, `id = "main"` means the same account. */
export const rootAccount = { id: 'main', name: 'Main' } as const

const schemas = lazySchema((z) => {
  const accessKey = z.strictObject({
    accessKeyId: z
      .string()
      .max(limits.accessKeyCharsMax)
      .regex(/^[\w.@-]{3,}$/, 'must be at least 3 letters, digits, or any of . _ @ -'),
    secretAccessKey: z
      .string()
      .min(limits.secretCharsMin, `is too weak: it must have at least ${limits.secretCharsMin} characters`)
      .regex(/^[\x21-\x7e]*$/, 'must be printable ASCII without spaces'),
  })
  /** A permission in AWS's notation. A star stands for any characters. */
  const permission = z
    .string()
    .regex(/^s3:[A-Za-z]*\*?[A-Za-z]*$/, 'must name permissions such as s3:GetObject or s3:Get*')
  const account = z.strictObject({
    id: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -'),
    name: z.string().min(1).max(256).optional(),
    keys: z
      .array(accessKey.extend({ permissions: z.array(permission).optional() }))
      .min(1, 'must hold at least one key'),
  })
  return { accessKey, accounts: z.array(account) }
})

const accountKeys = ['id', 'name', 'keys', 'accessKeyId', 'secretAccessKey', 'permissions']

/** The accounts in a TOML file. `value`: the content of `accounts`. Absent: none. */
export function parseAccounts(value: unknown): Account[] {
  if (value === undefined) return []
  const accounts = parseWith(schemas().accounts, value, 'accounts', accountKeys).map((account) => ({
    name: account.id,
    ...account,
  }))
  refuseRepeated(
    'accounts',
    'account id',
    accounts.map((account) => account.id),
  )
  refuseRepeated(
    'accounts',
    'access key',
    accounts.flatMap((account) => account.keys).map((key) => key.accessKeyId),
  )
  return accounts
}

/** `where` names the source in messages. */
export function parseAccessKey(value: unknown, where: string): AccessKey {
  return parseWith(schemas().accessKey, value, where, accountKeys)
}

export interface RootAccessKey extends AccessKey {
  /** Name of the variable that holds the secret. */
  secretVariable: string
}

/** The key in the first complete pair of variables, with `AWS_*` only if `fromAws`. An empty variable counts as not set. */
export function accessKeyOf(
  environment: NodeJS.ProcessEnv,
  { fromAws }: { fromAws: boolean },
): RootAccessKey | undefined {
  for (const [idName, secretName] of fromAws ? [...credentialPairs, awsCredentialPair] : credentialPairs) {
    const id = environment[idName]
    const secret = environment[secretName]
    if (!id && !secret) continue
    if (!id || !secret) {
      throw new ConfigurationError(
        `${id ? idName : secretName} is set but ${id ? secretName : idName} is not; set both`,
      )
    }
    const { accessKeyId, secretAccessKey } = schemas().accessKey.shape
    return {
      accessKeyId: parseWith(accessKeyId, id, idName, []),
      secretAccessKey: parseWith(secretAccessKey, secret, secretName, []),
      secretVariable: secretName,
    }
  }
  return undefined
}

/** Adds `root` as a key of the root account. */
export function withRootKey(accounts: readonly Account[], root: AccessKey): Account[] {
  const { accessKeyId: id, secretAccessKey: secret } = root
  const holder = accounts.find((account) => account.keys.some((key) => key.accessKeyId === id))
  if (holder !== undefined) {
    throw new ConfigurationError(
      `access key '${id}' is both in the environment and in account '${holder.id}' of the file`,
    )
  }
  const key = { accessKeyId: id, secretAccessKey: secret }
  if (!accounts.some((account) => account.id === rootAccount.id)) return [{ ...rootAccount, keys: [key] }, ...accounts]
  return accounts.map((account) =>
    account.id === rootAccount.id ? { ...account, keys: [key, ...account.keys] } : account,
  )
}
