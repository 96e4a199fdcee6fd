/** `holdfast policies`: manages the named policies of an account over the admin port of a running server. */
import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { policyView } from '../admin/views.ts'
import { ConfigurationError } from '../config/configuration-error.ts'
import { failureText } from '../file-failure.ts'
import {
  type Actions,
  type Asking,
  accountFlag,
  actionsSummary,
  columns,
  runAction,
  type Shown,
} from './admin-actions.ts'
import { adminFlags, adminOptions } from './admin-target.ts'
import type { CommandDeclaration } from './command.ts'

type Policy = z.output<typeof policyView>

const actions: Actions = {
  list: {
    takes: [],
    run: async ({ ask, account }) => {
      const path = ['v1', 'accounts', account, 'policies']
      const { policies: found } = await ask({ method: 'GET', path }, z.object({ policies: z.array(policyView) }))
      return { event: { event: 'policies', policies: found }, lines: columns(found.map(rowOf)) }
    },
  },
  put: {
    takes: ['NAME', 'FILE'],
    run: async (asking, [name = '', file = '']) => {
      const input = { document: await readDocument(file) }
      return shown(await asking.ask({ method: 'PUT', path: pathOf(asking, name), input }, policyView))
    },
  },
  get: {
    takes: ['NAME'],
    run: async (asking, [name = '']) => {
      const policy = await asking.ask({ method: 'GET', path: pathOf(asking, name) }, policyView)
      return { event: { event: 'policy', policy }, lines: policy.document.split('\n') }
    },
  },
  remove: {
    takes: ['NAME'],
    run: async (asking, [name = '']) => {
      await asking.ask({ method: 'DELETE', path: pathOf(asking, name) }, z.undefined())
      return { event: { event: 'removed', policy: name }, lines: [`${name} is removed`] }
    },
  },
}

const pathOf = ({ account }: Asking, name: string): string[] => ['v1', 'accounts', account, 'policies', name]

const shown = (policy: Policy): Shown => ({ event: { event: 'policy', policy }, lines: columns([rowOf(policy)]) })

function rowOf({ name, builtIn, users }: Policy): string[] {
  return [name, builtIn ? 'built in' : '', users.length === 0 ? 'nobody has it' : `of ${users.join(', ')}`]
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
  words: { placeholder: 'ACTION', summary: `${actionsSummary(actions)}. Initially 'list'. FILE holds JSON.` },
  run: (invocation) => runAction('policies', actions, invocation),
}
