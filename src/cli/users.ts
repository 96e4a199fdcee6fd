/** `holdfast users`: manages the users of an account over the admin port of a running server. */
import { z } from 'zod'
import { userView } from '../admin/views.ts'
import {
  type Action,
  type Actions,
  type Asking,
  accountFlag,
  actionsSummary,
  columns,
  runAction,
  type Shown,
} from './admin-actions.ts'
import { AdminRefused } from './admin-client.ts'
import { adminFlags, adminOptions } from './admin-target.ts'
import type { CommandDeclaration } from './command.ts'
import { readDocument } from './policies.ts'

type User = z.output<typeof userView>

const actions: Actions = {
  list: {
    takes: [],
    run: async ({ ask, account }) => {
      const path = ['v1', 'accounts', account, 'users']
      const { users: found } = await ask({ method: 'GET', path }, z.object({ users: z.array(userView) }))
      return { event: { event: 'users', users: found }, lines: columns(found.map(rowOf)) }
    },
  },
  add: { takes: ['NAME'], run: add },
  show: {
    takes: ['NAME'],
    run: async (asking, [name = '']) =>
      shown(await asking.ask({ method: 'GET', path: pathOf(asking, name) }, userView)),
  },
  disable: setEnabled(false),
  enable: setEnabled(true),
  remove: {
    takes: ['NAME'],
    run: async (asking, [name = '']) => {
      await asking.ask({ method: 'DELETE', path: pathOf(asking, name) }, z.undefined())
      return { event: { event: 'removed', user: name }, lines: [`${name} is removed`] }
    },
  },
  attach: {
    takes: ['NAME', 'POLICY'],
    run: async (asking, [name = '', policy = '']) => shown(await attach(asking, name, policy)),
  },
  detach: {
    takes: ['NAME', 'POLICY'],
    run: async (asking, [name = '', policy = '']) =>
      shown(await asking.ask({ method: 'DELETE', path: pathOf(asking, name, 'policies', policy) }, userView)),
  },
  'put-policy': {
    takes: ['NAME', 'POLICY', 'FILE'],
    run: async (asking, [name = '', policy = '', file = '']) => {
      const path = pathOf(asking, name, 'inline-policies', policy)
      return shown(await asking.ask({ method: 'PUT', path, input: { document: await readDocument(file) } }, userView))
    },
  },
  'remove-policy': {
    takes: ['NAME', 'POLICY'],
    run: async (asking, [name = '', policy = '']) =>
      shown(await asking.ask({ method: 'DELETE', path: pathOf(asking, name, 'inline-policies', policy) }, userView)),
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

function setEnabled(enabled: boolean): Action {
  return {
    takes: ['NAME'],
    run: async (asking, [name = '']) =>
      shown(await asking.ask({ method: 'PUT', path: pathOf(asking, name, 'enabled'), input: { enabled } }, userView)),
  }
}

const pathOf = ({ account }: Asking, name: string, ...more: readonly string[]): string[] => [
  'v1',
  'accounts',
  account,
  'users',
  name,
  ...more,
]

const shown = (user: User): Shown => ({ event: { event: 'user', user }, lines: columns([rowOf(user)]) })

function rowOf({ name, enabled, policies, inlinePolicies }: User): string[] {
  const inline = inlinePolicies.map((policy) => `${policy.name} (own)`)
  return [name, enabled ? 'enabled' : 'disabled', [...policies, ...inline].join(', ') || 'no policy']
}

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
    summary: `${actionsSummary(actions)}. Initially 'list'. A policy that is put is the user's own; one that is attached has a name in the account.`,
  },
  run: (invocation) => runAction('users', actions, invocation),
}
