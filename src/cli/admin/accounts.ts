/** `holdfast accounts`: manages the accounts of a running server over its admin port. */
import { accountView } from '../../admin/views.ts'
import type { CommandDeclaration } from '../command.ts'
import { type Actions, actionsSummary, keptActions, runAction } from './admin-actions.ts'
import { adminFlags, adminOptions } from './admin-target.ts'

const everything = {
  blockPublicAcls: true,
  ignorePublicAcls: true,
  blockPublicPolicy: true,
  restrictPublicBuckets: true,
}

const { pathOf, asked, shown, list, show, disable, enable, remove } = keptActions({
  named: 'ID',
  view: accountView,
  event: { one: 'account', many: 'accounts' },
  field: { one: 'account', many: 'accounts', name: 'account' },
  path: () => ['v1', 'accounts'],
  rowOf: ({ id, name, enabled, source, publicAccessBlock: block }) => {
    const blocked = block !== undefined && Object.values(block).some(Boolean)
    const notes = [enabled ? 'enabled' : 'disabled', ...(blocked ? ['blocks the public'] : [])]
    return [id, name, notes.join(', '), source === 'configuration' ? 'from the configuration' : '']
  },
})

const actions: Actions = {
  list,
  add: {
    takes: ['ID'],
    lastIsOptional: true,
    run: async ({ ask, flag }, [id]) => {
      const input = { id, name: flag('name') }
      const account = await ask({ method: 'POST', path: ['v1', 'accounts'], input }, accountView)
      return shown(account, [`${account.id} is made. It has no key yet: holdfast keys add --account ${account.id}`])
    },
  },
  show,
  disable,
  enable,
  remove,
  'block-public': {
    takes: ['ID'],
    run: (asking, [id = '']) =>
      asked(asking, { method: 'PUT', path: pathOf(asking, id, 'public-access-block'), input: everything }),
  },
  'unblock-public': {
    takes: ['ID'],
    run: (asking, [id = '']) => asked(asking, { method: 'DELETE', path: pathOf(asking, id, 'public-access-block') }),
  },
}

export const accounts: CommandDeclaration = {
  name: 'accounts',
  summary: 'List, make, disable and remove the accounts of a running server.',
  options: adminOptions,
  extraFlags: [...adminFlags, { flags: '--name <NAME>', summary: 'add: the name that lists show.' }],
  words: {
    placeholder: 'ACTION',
    choices: Object.keys(actions),
    summary: `${actionsSummary(actions)}. Initially 'list'.`,
  },
  run: (invocation) => runAction('accounts', actions, invocation),
}
