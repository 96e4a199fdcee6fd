/** The admin port's operations on accounts. The server decides which accounts exist; each account decides what it blocks from the public. */
import { z } from 'zod'
import { defineAdminOperation } from './requests/operation.ts'
import { accountView, name, noInput, publicAccessBlock, showAccount } from './views.ts'

const createAccount = defineAdminOperation({
  name: 'CreateAccount',
  summary: 'Creates an account without a key. If no id is given, it gets one of twelve digits.',
  method: 'POST',
  path: '/v1/accounts',
  permission: 'admin:CreateAccount',
  status: 201,
  input: z.strictObject({ id: name.optional(), name: name.optional() }),
  output: accountView,
  handle: async ({ identities }, _, input) => showAccount(await identities.accounts.create(input)),
})

const listAccounts = defineAdminOperation({
  name: 'ListAccounts',
  summary: 'Lists all accounts, including those of the configuration.',
  method: 'GET',
  path: '/v1/accounts',
  permission: 'admin:ListAccounts',
  status: 200,
  input: noInput,
  output: z.object({ accounts: z.array(accountView) }),
  handle: async ({ identities }) => ({ accounts: (await identities.accounts.list()).map(showAccount) }),
})

const getAccount = defineAdminOperation({
  name: 'GetAccount',
  summary: 'Shows an account.',
  method: 'GET',
  path: '/v1/accounts/{account}',
  permission: 'admin:GetAccount',
  status: 200,
  input: noInput,
  output: accountView,
  handle: async ({ identities }, { account }) => showAccount(await identities.accounts.get(account)),
})

const setAccountEnabled = defineAdminOperation({
  name: 'SetAccountEnabled',
  summary: 'Disables an account, with all its keys and those of its users, or enables it again.',
  method: 'PUT',
  path: '/v1/accounts/{account}/enabled',
  permission: 'admin:SetAccountEnabled',
  ofServer: true,
  status: 200,
  input: z.strictObject({ enabled: z.boolean() }),
  output: accountView,
  handle: async ({ identities }, { account }, { enabled }) =>
    showAccount(await identities.accounts.setDisabled(account, !enabled)),
})

const removeAccount = defineAdminOperation({
  name: 'DeleteAccount',
  summary: 'Removes an account that owns no bucket, with its users, policies and keys.',
  method: 'DELETE',
  path: '/v1/accounts/{account}',
  permission: 'admin:DeleteAccount',
  ofServer: true,
  status: 204,
  input: noInput,
  output: undefined,
  handle: ({ identities }, { account }) => identities.accounts.remove(account),
})

const putPublicAccessBlock = defineAdminOperation({
  name: 'PutAccountPublicAccessBlock',
  summary: 'Blocks the public for all buckets of an account.',
  method: 'PUT',
  path: '/v1/accounts/{account}/public-access-block',
  permission: 'admin:PutAccountPublicAccessBlock',
  status: 200,
  input: publicAccessBlock,
  output: accountView,
  handle: async ({ identities }, { account }, block) =>
    showAccount(await identities.accounts.setPublicAccessBlock(account, block)),
})

const deletePublicAccessBlock = defineAdminOperation({
  name: 'DeleteAccountPublicAccessBlock',
  summary: 'Lifts the block of an account. Those of its buckets stay.',
  method: 'DELETE',
  path: '/v1/accounts/{account}/public-access-block',
  permission: 'admin:PutAccountPublicAccessBlock',
  status: 200,
  input: noInput,
  output: accountView,
  handle: async ({ identities }, { account }) =>
    showAccount(await identities.accounts.setPublicAccessBlock(account, undefined)),
})

export const accountOperations = [
  createAccount,
  listAccounts,
  getAccount,
  setAccountEnabled,
  removeAccount,
  putPublicAccessBlock,
  deletePublicAccessBlock,
]
