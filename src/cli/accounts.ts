/** `holdfast accounts`: manages the accounts of a running server over its admin port. */
import { z } from 'zod'
import { accountView } from '../admin/views.ts'
import { type Action, type Actions, actionsSummary, columns, runAction, type Shown } from './admin-actions.ts'
import { adminFlags, adminOptions } from './admin-target.ts'
import type { CommandDeclaration } from './command.ts'

type Account = z.output<typeof accountView>

const none = z.undefined()
const everything = {
  blockPublicAcls: true,
  ignorePublicAcls: true,
  blockPublicPolicy: true,
  restrictPublicBuckets: true,
}

const actions: Actions = {
  list: {
    takes: [],
    run: async ({ ask }) => {
      const { accounts } = await ask(
        { method: 'GET', path: ['v1', 'accounts'] },
        z.object({ accounts: z.array(accountView) }),
      )
      return { event: { event: 'accounts', accounts }, lines: columns(accounts.map(rowOf)) }
    },
  },
  add: {
    takes: ['ID'],
    lastIsOptional: true,
    run: async ({ ask, flag }, [id]) =>
      shown(
        await ask({ method: 'POST', path: ['v1', 'accounts'], input: { id, name: flag('name') } }, accountView),
        (account) => [`${account.id} is made. It has no key yet: holdfast keys add --account ${account.id}`],
      ),
  },
  show: {
    takes: ['ID'],
    run: async ({ ask }, [id = '']) => shown(await ask({ method: 'GET', path: pathOf(id) }, accountView)),
  },
  disable: setEnabled(false),
  enable: setEnabled(true),
  remove: {
    takes: ['ID'],
    run: async ({ ask }, [id = '']) => {
      await ask({ method: 'DELETE', path: pathOf(id) }, none)
      return { event: { event: 'removed', account: id }, lines: [`${id} is removed`] }
    },
  },
  'block-public': {
    takes: ['ID'],
    run: async ({ ask }, [id = '']) =>
      shown(await ask({ method: 'PUT', path: pathOf(id, 'public-access-block'), input: everything }, accountView)),
  },
  'unblock-public': {
    takes: ['ID'],
    run: async ({ ask }, [id = '']) =>
      shown(await ask({ method: 'DELETE', path: pathOf(id, 'public-access-block') }, accountView)),
  },
}

function setEnabled(enabled: boolean): Action {
  return {
    takes: ['ID'],
    run: async ({ ask }, [id = '']) =>
      shown(await ask({ method: 'PUT', path: pathOf(id, 'enabled'), input: { enabled } }, accountView)),
  }
}

const pathOf = (id: string, ...more: readonly string[]): string[] => ['v1', 'accounts', id, ...more]

const shown = (account: Account, lines = (of: Account) => columns([rowOf(of)])): Shown => ({
  event: { event: 'account', account },
  lines: lines(account),
})

function rowOf({ id, name, enabled, source, publicAccessBlock: block }: Account): string[] {
  const blocked = block !== undefined && Object.values(block).some(Boolean)
  const notes = [enabled ? 'enabled' : 'disabled', ...(blocked ? ['blocks the public'] : [])]
  return [id, name, notes.join(', '), source === 'configuration' ? 'from the configuration' : '']
}

export const accounts: CommandDeclaration = {
  name: 'accounts',
  summary: 'List, make, disable and remove the accounts of a running server.',
  options: adminOptions,
  extraFlags: [...adminFlags, { flags: '--name <NAME>', summary: 'add: the name that lists show.' }],
  words: { placeholder: 'ACTION', summary: `${actionsSummary(actions)}. Initially 'list'.` },
  run: (invocation) => runAction('accounts', actions, invocation),
}
