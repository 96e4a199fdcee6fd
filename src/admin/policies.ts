/** The admin port's operations on an account's named policies, including the built-in ones. */
import { z } from 'zod'
import { defineAdminOperation } from './requests/operation.ts'
import { noInput, policyDocument, policyView, showPolicy, textOf } from './views.ts'

const putPolicy = defineAdminOperation({
  name: 'PutPolicy',
  summary: 'Saves a policy under a name, and replaces one of that name. It applies to all users who have it.',
  method: 'PUT',
  path: '/v1/accounts/{account}/policies/{policy}',
  permission: 'admin:PutPolicy',
  status: 200,
  input: z.strictObject({ document: policyDocument }),
  output: policyView,
  handle: async ({ identities }, { account, policy }, { document }) =>
    showPolicy(await identities.policies.put(account, { name: policy, document: textOf(document) })),
})

const listPolicies = defineAdminOperation({
  name: 'ListPolicies',
  summary: 'Lists the policies of an account, with the built-in ones.',
  method: 'GET',
  path: '/v1/accounts/{account}/policies',
  permission: 'admin:ListPolicies',
  status: 200,
  input: noInput,
  output: z.object({ policies: z.array(policyView) }),
  handle: async ({ identities }, { account }) => ({
    policies: (await identities.policies.list(account)).map(showPolicy),
  }),
})

const getPolicy = defineAdminOperation({
  name: 'GetPolicy',
  summary: 'Shows a policy, and who has it.',
  method: 'GET',
  path: '/v1/accounts/{account}/policies/{policy}',
  permission: 'admin:GetPolicy',
  status: 200,
  input: noInput,
  output: policyView,
  handle: async ({ identities }, { account, policy }) => showPolicy(await identities.policies.get(account, policy)),
})

const removePolicy = defineAdminOperation({
  name: 'DeletePolicy',
  summary: 'Removes a policy that no user has.',
  method: 'DELETE',
  path: '/v1/accounts/{account}/policies/{policy}',
  permission: 'admin:DeletePolicy',
  status: 204,
  input: noInput,
  output: undefined,
  handle: ({ identities }, { account, policy }) => identities.policies.remove(account, policy),
})

export const policyOperations = [putPolicy, listPolicies, getPolicy, removePolicy]
