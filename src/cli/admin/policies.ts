/** `holdfast policies`: manages the named policies of an account over the admin port of a running server. */
import { readFile } from 'node:fs/promises'
import { policyView } from '../../admin/views.ts'
import { ConfigurationError } from '../../config/configuration-error.ts'
import { failureText } from '../../file-failure.ts'
import type { CommandDeclaration } from '../command.ts'
import { type Actions, accountFlag, actionsSummary, keptActions, runAction } from './admin-actions.ts'
import { adminFlags, adminOptions } from './admin-target.ts'

const { pathOf, asked, list, remove } = keptActions({
  named: 'NAME',
  view: policyView,
  event: { one: 'policy', many: 'policies' },
  field: { one: 'policy', many: 'policies', name: 'policy' },
  path: ({ account }) => ['v1', 'accounts', account, 'policies'],
  rowOf: ({ name, builtIn, users }) => [
    name,
    builtIn ? 'built in' : '',
    users.length === 0 ? 'nobody has it' : `of ${users.join(', ')}`,
  ],
})

const actions: Actions = {
  list,
  put: {
    takes: ['NAME', 'FILE'],
    run: async (asking, [name = '', file = '']) => {
      const input = { document: await readDocument(file) }
      return asked(asking, { method: 'PUT', path: pathOf(asking, name), input })
    },
  },
  get: {
    takes: ['NAME'],
    run: async (asking, [name = '']) => {
      const policy = await asking.ask({ method: 'GET', path: pathOf(asking, name) }, policyView)
      return { event: { event: 'policy', policy }, lines: policy.document.split('\n') }
    },
  },
  remove,
}

/** The text of a policy in a file. Throws `ConfigurationError` when it can't be read. */
export async function readDocument(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new ConfigurationError(failureText(error))
  }
}

export const policies: CommandDeclaration = {
  name: 'policies',
  summary: 'List, put and remove the policies of an account that users can have by name.',
  options: adminOptions,
  extraFlags: [...adminFlags, accountFlag],
  words: {
    placeholder: 'ACTION',
    choices: Object.keys(actions),
    summary: `${actionsSummary(actions)}. Initially 'list'. FILE holds JSON.`,
  },
  run: (invocation) => runAction('policies', actions, invocation),
}
