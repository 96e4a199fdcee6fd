/** The admin port's operations on access keys: those of users, and those of the account itself, which need one more permission. */
import { z } from 'zod'
import type { KeyEntry } from '../identities/identities.ts'
import { IdentityRefused } from '../identities/refusal.ts'
import { type AdminContext, defineAdminOperation, type Parameters } from './requests/operation.ts'
import {
  issuedKeyView,
  keyView,
  msOf,
  name,
  noInput,
  policyDocument,
  showIssuedKey,
  showKey,
  textOf,
  time,
} from './views.ts'

/** Required for keys of the account itself. Such a key may do everything in the account, so a permission to make users' keys must not be enough. */
const ofAccountItself = 'admin:ManageAccountKeys'

const createKey = defineAdminOperation({
  name: 'CreateKey',
  summary: 'Creates a key for a user or for the account itself. Its secret is in this answer and in no other.',
  method: 'POST',
  path: '/v1/accounts/{account}/keys',
  permission: 'admin:CreateKey',
  status: 201,
  input: z.strictObject({
    user: name.optional(),
    accessKeyId: name.optional(),
    secretAccessKey: name.optional(),
    expires: time.optional(),
    policy: policyDocument.optional(),
    description: z.string().max(1024).optional(),
  }),
  output: issuedKeyView,
  handle: async (context, { account }, { expires, policy, ...key }) => {
    if (key.user === undefined) context.require(ofAccountItself)
    const made = { ...key, accountId: account, expiresMs: msOf(expires), policy: policy && textOf(policy) }
    return showIssuedKey(await context.identities.keys.add(made))
  },
})

const listKeys = defineAdminOperation({
  name: 'ListKeys',
  summary: 'Lists the keys of an account and of its users, or those of one user.',
  method: 'GET',
  path: '/v1/accounts/{account}/keys',
  permission: 'admin:ListKeys',
  status: 200,
  input: z.strictObject({ user: name.optional() }),
  output: z.object({ keys: z.array(keyView) }),
  handle: async ({ identities }, { account }, { user }) => ({
    keys: (await identities.keys.list({ accountId: account, user })).map(showKey),
  }),
})

const getKey = defineAdminOperation({
  name: 'GetKey',
  summary: 'Shows a key without its secret.',
  method: 'GET',
  path: '/v1/accounts/{account}/keys/{key}',
  permission: 'admin:GetKey',
  status: 200,
  input: noInput,
  output: keyView,
  handle: async (context, parameters) => showKey(await keyOf(context, parameters)),
})

const setKeyEnabled = defineAdminOperation({
  name: 'SetKeyEnabled',
  summary: 'Disables a key, or enables it again.',
  method: 'PUT',
  path: '/v1/accounts/{account}/keys/{key}/enabled',
  permission: 'admin:SetKeyEnabled',
  status: 200,
  input: z.strictObject({ enabled: z.boolean() }),
  output: keyView,
  handle: async (context, parameters, { enabled }) => {
    const { accessKeyId } = await changeableKeyOf(context, parameters)
    return showKey(await context.identities.keys.setDisabled(accessKeyId, !enabled))
  },
})

const setKeyExpiry = defineAdminOperation({
  name: 'SetKeyExpiry',
  summary: 'Sets when a key expires, or that it does not.',
  method: 'PUT',
  path: '/v1/accounts/{account}/keys/{key}/expiry',
  permission: 'admin:SetKeyExpiry',
  status: 200,
  input: z.strictObject({ expires: time.nullable() }),
  output: keyView,
  handle: async (context, parameters, { expires }) => {
    const { accessKeyId } = await changeableKeyOf(context, parameters)
    return showKey(await context.identities.keys.setExpiry(accessKeyId, msOf(expires ?? undefined)))
  },
})

const rotateKey = defineAdminOperation({
  name: 'RotateKey',
  summary: 'Gives a key a new secret, which is in this answer and in no other. The old one no longer works.',
  method: 'POST',
  path: '/v1/accounts/{account}/keys/{key}/rotate',
  permission: 'admin:RotateKey',
  status: 200,
  input: z.strictObject({ secretAccessKey: name.optional() }),
  output: issuedKeyView,
  handle: async (context, parameters, { secretAccessKey }) => {
    const { accessKeyId } = await changeableKeyOf(context, parameters)
    return showIssuedKey(await context.identities.keys.rotate(accessKeyId, secretAccessKey))
  },
})

const removeKey = defineAdminOperation({
  name: 'DeleteKey',
  summary: 'Removes a key for good.',
  method: 'DELETE',
  path: '/v1/accounts/{account}/keys/{key}',
  permission: 'admin:DeleteKey',
  status: 204,
  input: noInput,
  output: undefined,
  handle: async (context, parameters) => {
    const { accessKeyId } = await changeableKeyOf(context, parameters)
    await context.identities.keys.remove(accessKeyId)
  },
})

/** Treats a key of another account as missing. */
async function keyOf({ identities }: AdminContext, { account, key }: Parameters<'account' | 'key'>): Promise<KeyEntry> {
  const found = await identities.keys.get(key)
  if (found.accountId === account) return found
  throw new IdentityRefused('NoSuchEntity', `there is no access key ${key} in account ${account}`)
}

async function changeableKeyOf(context: AdminContext, parameters: Parameters<'account' | 'key'>): Promise<KeyEntry> {
  const found = await keyOf(context, parameters)
  if (found.user === undefined) context.require(ofAccountItself)
  return found
}

export const keyOperations = [createKey, listKeys, getKey, setKeyEnabled, setKeyExpiry, rotateKey, removeKey]
