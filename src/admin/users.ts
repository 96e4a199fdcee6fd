/** The admin port's operations on the users of an account, and on their policies. */
import { z } from 'zod'
import { defineAdminOperation } from './requests/operation.ts'
import { name, noInput, policyDocument, showUser, tags, textOf, userView } from './views.ts'

const createUser = defineAdminOperation({
  name: 'CreateUser',
  summary: 'Creates a user without permissions and without a key.',
  method: 'POST',
  path: '/v1/accounts/{account}/users',
  permission: 'admin:CreateUser',
  status: 201,
  input: z.strictObject({ name, tags: tags.optional() }),
  output: userView,
  handle: async ({ identities }, { account }, input) => showUser(await identities.users.create(account, input)),
})

const listUsers = defineAdminOperation({
  name: 'ListUsers',
  summary: 'Lists the users of an account.',
  method: 'GET',
  path: '/v1/accounts/{account}/users',
  permission: 'admin:ListUsers',
  status: 200,
  input: noInput,
  output: z.object({ users: z.array(userView) }),
  handle: async ({ identities }, { account }) => ({ users: (await identities.users.list(account)).map(showUser) }),
})

const getUser = defineAdminOperation({
  name: 'GetUser',
  summary: 'Shows a user.',
  method: 'GET',
  path: '/v1/accounts/{account}/users/{user}',
  permission: 'admin:GetUser',
  status: 200,
  input: noInput,
  output: userView,
  handle: async ({ identities }, { account, user }) => showUser(await identities.users.get(account, user)),
})

const setUserEnabled = defineAdminOperation({
  name: 'SetUserEnabled',
  summary: 'Disables a user, with all of the user’s keys, or enables the user again.',
  method: 'PUT',
  path: '/v1/accounts/{account}/users/{user}/enabled',
  permission: 'admin:SetUserEnabled',
  status: 200,
  input: z.strictObject({ enabled: z.boolean() }),
  output: userView,
  handle: async ({ identities }, { account, user }, { enabled }) =>
    showUser(await identities.users.setDisabled(account, user, !enabled)),
})

const setUserTags = defineAdminOperation({
  name: 'SetUserTags',
  summary: 'Replaces the tags of a user, which policies can test as `aws:PrincipalTag`.',
  method: 'PUT',
  path: '/v1/accounts/{account}/users/{user}/tags',
  permission: 'admin:SetUserTags',
  status: 200,
  input: z.strictObject({ tags }),
  output: userView,
  handle: async ({ identities }, { account, user }, input) =>
    showUser(await identities.users.setTags(account, user, input.tags)),
})

const removeUser = defineAdminOperation({
  name: 'DeleteUser',
  summary: 'Removes a user, with all of the user’s keys.',
  method: 'DELETE',
  path: '/v1/accounts/{account}/users/{user}',
  permission: 'admin:DeleteUser',
  status: 204,
  input: noInput,
  output: undefined,
  handle: ({ identities }, { account, user }) => identities.users.remove(account, user),
})

const attachPolicy = defineAdminOperation({
  name: 'AttachUserPolicy',
  summary: 'Attaches a named policy to a user.',
  method: 'PUT',
  path: '/v1/accounts/{account}/users/{user}/policies/{policy}',
  permission: 'admin:AttachUserPolicy',
  status: 200,
  input: noInput,
  output: userView,
  handle: async ({ identities }, { account, user, policy }) =>
    showUser(await identities.users.attachPolicy(account, user, policy)),
})

const detachPolicy = defineAdminOperation({
  name: 'DetachUserPolicy',
  summary: 'Detaches a named policy from a user.',
  method: 'DELETE',
  path: '/v1/accounts/{account}/users/{user}/policies/{policy}',
  permission: 'admin:DetachUserPolicy',
  status: 200,
  input: noInput,
  output: userView,
  handle: async ({ identities }, { account, user, policy }) =>
    showUser(await identities.users.detachPolicy(account, user, policy)),
})

const putInlinePolicy = defineAdminOperation({
  name: 'PutUserPolicy',
  summary: 'Gives a user an inline policy, which nobody else has, and replaces one of that name.',
  method: 'PUT',
  path: '/v1/accounts/{account}/users/{user}/inline-policies/{policy}',
  permission: 'admin:PutUserPolicy',
  status: 200,
  input: z.strictObject({ document: policyDocument }),
  output: userView,
  handle: async ({ identities }, { account, user, policy }, { document }) =>
    showUser(await identities.users.putInlinePolicy(account, user, { name: policy, document: textOf(document) })),
})

const removeInlinePolicy = defineAdminOperation({
  name: 'DeleteUserPolicy',
  summary: 'Removes an inline policy from a user.',
  method: 'DELETE',
  path: '/v1/accounts/{account}/users/{user}/inline-policies/{policy}',
  permission: 'admin:DeleteUserPolicy',
  status: 200,
  input: noInput,
  output: userView,
  handle: async ({ identities }, { account, user, policy }) =>
    showUser(await identities.users.removeInlinePolicy(account, user, policy)),
})

export const userOperations = [
  createUser,
  listUsers,
  getUser,
  setUserEnabled,
  setUserTags,
  removeUser,
  attachPolicy,
  detachPolicy,
  putInlinePolicy,
  removeInlinePolicy,
]
