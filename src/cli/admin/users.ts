/** `holdfast users`: manages the users of an account over the admin port of a running server. */
import type { z } from 'zod'
import { userView } from '../../admin/views.ts'
import type { CommandDeclaration } from '../command.ts'
import {
  type Actions,
  type Asking,
  accountFlag,
  actionsSummary,
  keptActions,
  runAction,
  type Shown,
} from './admin-actions.ts'
import { AdminRefused } from './admin-client.ts'
import { adminFlags, adminOptions } from './admin-target.ts'
import { readDocument } from './policies.ts'

type User = z.output<typeof userView>

const kept = keptActions({
  named: 'NAME',
  view: userView,
  event: { one: 'user', many: 'users' },
  field: { one: 'user', many: 'users', name: 'user' },
  path: ({ account }) => ['v1', 'accounts', account, 'users'],
  rowOf: ({ name, enabled, policies, inlinePolicies }) => {
    const inline = inlinePolicies.map((policy) => `${policy.name} (own)`)
    return [name, enabled ? 'enabled' : 'disabled', [...policies, ...inline].join(', ') || 'no policy']
  },
})
const { pathOf, asked, shown, list, show, disable, enable, remove } = kept

const actions: Actions = {
  list,
  add: { takes: ['NAME'], run: add },
  show,
  disable,
  enable,
  remove,
  attach: {
    takes: ['NAME', 'POLICY'],
    run: async (asking, [name = '', policy = '']) => shown(await attach(asking, name, policy)),
  },
  detach: {
    takes: ['NAME', 'POLICY'],
    run: (asking, [name = '', policy = '']) =>
      asked(asking, { method: 'DELETE', path: pathOf(asking, name, 'policies', policy) }),
  },
  'put-policy': {
    takes: ['NAME', 'POLICY', 'FILE'],
    run: async (asking, [name = '', policy = '', file = '']) => {
      const path = pathOf(asking, name, 'inline-policies', policy)
      return asked(asking, { method: 'PUT', path, input: { document: await readDocument(file) } })
    },
  },
  'remove-policy': {
    takes: ['NAME', 'POLICY'],
    run: (asking, [name = '', policy = '']) =>
      asked(asking, { method: 'DELETE', path: pathOf(asking, name, 'inline-policies', policy) }),
  },
}

async function add(asking: Asking, [name = '']: readonly string[]): Promise<Shown> {
  const path = ['v1', 'accounts', asking.account, 'users']
  let user = await asking.ask({ method: 'POST', path, input: { name } }, userView)
  for (const policy of namesIn(asking.extra.policy)) {
    try {
      user = await attach(asking, name, policy)
    } catch (error) {
      if (!(error instanceof AdminRefused)) throw error
      throw new AdminRefused(`${name} is made, but does not have the policy ${policy}: ${error.message}`)
    }
  }
  return shown(user)
}

const namesIn = (given: unknown): string[] => (Array.isArray(given) ? given.map(String) : [])

const attach = (asking: Asking, name: string, policy: string): Promise<User> =>
  asking.ask({ method: 'PUT', path: pathOf(asking, name, 'policies', policy) }, userView)

export const users: CommandDeclaration = {
  name: 'users',
  summary: 'List, make, disable and remove the users of an account, and say what they may do.',
  options: adminOptions,
  extraFlags: [
    ...adminFlags,
    accountFlag,
    { flags: '--policy <NAME>', summary: 'add: a policy that the user gets.', repeatable: true },
  ],
  words: {
    placeholder: 'ACTION',
    choices: Object.keys(actions),
    summary: `${actionsSummary(actions)}. Initially 'list'. A policy that is put is the user's own; one that is attached has a name in the account.`,
  },
  run: (invocation) => runAction('users', actions, invocation),
}
