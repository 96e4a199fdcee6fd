/** `holdfast keys`: the access keys of an account and its users, managed over the admin port of a running server. */
import { z } from 'zod'
import { scopedPolicy } from '../../access/scoped-policy.ts'
import { issuedKeyView, keyView } from '../../admin/views.ts'
import { systemClock } from '../../clock.ts'
import { ConfigurationError } from '../../config/configuration-error.ts'
import { duration } from '../../config/kinds.ts'
import { checkBucketName } from '../../operations/bucket-name.ts'
import { isoTime } from '../../time-text.ts'
import type { CommandDeclaration, Invocation } from '../command.ts'
import { overData } from '../over-data.ts'
import {
  type Actions,
  type Asking,
  accountFlag,
  actionsSummary,
  keptActions,
  runAction,
  type Shown,
} from './admin-actions.ts'
import { adminFlags, adminOptions } from './admin-target.ts'
import { readDocument } from './policies.ts'

type IssuedKey = z.output<typeof issuedKeyView>

const { pathOf, asked, list, show, disable, enable, remove } = keptActions({
  named: 'KEY',
  view: keyView,
  event: { one: 'access-key', many: 'access-keys' },
  field: { one: 'key', many: 'keys', name: 'accessKeyId' },
  path: ({ account }) => ['v1', 'accounts', account, 'keys'],
  listFlag: 'user',
  rowOf: ({ accessKeyId, user, enabled, expires, policy, permissions, description, source }) => {
    const notes = [
      enabled ? 'enabled' : 'disabled',
      ...(expires === undefined ? [] : [`until ${expires}`]),
      ...(policy === undefined && permissions === undefined ? [] : ['narrowed']),
      ...(source === 'configuration' ? ['from the configuration'] : []),
    ]
    return [accessKeyId, user === undefined ? 'of the account' : `of ${user}`, notes.join(', '), description ?? '']
  },
})

const actions: Actions = {
  list,
  add: { takes: [], run: add },
  show,
  disable,
  enable,
  rotate: {
    takes: ['KEY'],
    run: async (asking, [key = '']) =>
      issued(await asking.ask({ method: 'POST', path: pathOf(asking, key, 'rotate'), input: {} }, issuedKeyView)),
  },
  expire: {
    takes: ['KEY', 'WHEN'],
    run: async (asking, [key = '', when = '']) => {
      const input = { expires: when === 'never' ? null : readTime(when, 'WHEN') }
      return asked(asking, { method: 'PUT', path: pathOf(asking, key, 'expiry'), input })
    },
  },
  remove,
}

async function add(asking: Asking): Promise<Shown> {
  const { account, flag, ask } = asking
  const expires = flag('expires')
  const input = {
    user: flag('user'),
    accessKeyId: flag('accessKey'),
    description: flag('description'),
    expires: expires === undefined || expires === 'never' ? undefined : readTime(expires, '--expires'),
    policy: await policyIn(asking),
  }
  return issued(await ask({ method: 'POST', path: ['v1', 'accounts', account, 'keys'], input }, issuedKeyView))
}

/** The policy that restricts the key, from the flags. */
async function policyIn({ flag, extra }: Asking): Promise<string | undefined> {
  const [bucket, file, prefix] = [flag('bucket'), flag('policyFile'), flag('prefix')]
  const { readOnly = false, writeOnly = false } = extra
  if (readOnly === true && writeOnly === true) {
    throw new ConfigurationError('--read-only and --write-only exclude each other')
  }
  if (bucket === undefined) {
    if (prefix !== undefined || readOnly === true || writeOnly === true) {
      throw new ConfigurationError('--prefix, --read-only and --write-only need a --bucket')
    }
    return file === undefined ? undefined : readDocument(file)
  }
  if (file !== undefined) throw new ConfigurationError('--bucket and --policy-file exclude each other')
  refuseBucketName(bucket)
  const access = readOnly === true ? 'read-only' : writeOnly === true ? 'write-only' : 'read-write'
  return scopedPolicy({ bucket, prefix: prefix ?? '', access })
}

/** A policy may name any bucket, also one that is yet to be made. Of a name that none can have, the key would be of no use. */
function refuseBucketName(name: string): void {
  try {
    checkBucketName(name)
  } catch {
    throw new ConfigurationError(`--bucket: no bucket can have the name '${name}'`)
  }
}

const wholeTime = z.iso.datetime({ offset: true })

/** Reads a duration from now, or a time. */
function readTime(text: string, where: string): string {
  if (wholeTime.safeParse(text).success) return text
  try {
    return isoTime(systemClock.now() + duration(1000).parse([text], ''))
  } catch {
    throw new ConfigurationError(
      `${where}: expects a duration such as 12h or 30d, a time such as 2027-01-31T00:00:00Z, or never, not '${text}'`,
    )
  }
}

const issued = (key: IssuedKey): Shown => ({
  event: { event: 'access-key', key },
  lines: [`access key  ${key.accessKeyId}`, `secret key  ${key.secretAccessKey}   (shown once)`],
})

const formerFlags = { rotate: '--rotate <NAME>', rewrap: '--rewrap', retire: '--retire' }

/** `keys` used to be the command of the key ring. Without an action, it still is in this version. */
async function run(invocation: Invocation): Promise<number> {
  const isFormer =
    invocation.words.length === 0 || Object.keys(formerFlags).some((flag) => invocation.extra[flag] !== undefined)
  if (!isFormer) return runAction('keys', actions, invocation)
  if (invocation.words.length > 0) {
    throw new ConfigurationError('--rotate, --rewrap and --retire belong to `holdfast key-ring`')
  }
  invocation.notice(
    'the key ring is now `holdfast key-ring`; `holdfast keys` shows it in this version for the last time',
  )
  return overData('keyRing')(invocation)
}

export const keys: CommandDeclaration = {
  name: 'keys',
  summary: 'List, make, rotate, disable and remove the access keys of an account and its users.',
  options: adminOptions,
  extraFlags: [
    ...adminFlags,
    accountFlag,
    { flags: '--user <NAME>', summary: 'add, list: the user. Without one, `add` makes a key of the account itself.' },
    { flags: '--bucket <NAME>', summary: 'add: the key may use this bucket alone.' },
    { flags: '--prefix <TEXT>', summary: 'add: and in it only what begins so.' },
    { flags: '--read-only', summary: 'add: and only to read.' },
    { flags: '--write-only', summary: 'add: and only to write.' },
    { flags: '--policy-file <FILE>', summary: 'add: the key may do what this policy allows.' },
    { flags: '--expires <WHEN>', summary: 'add: a duration such as 30d, or a time.' },
    { flags: '--description <TEXT>', summary: 'add: what lists show of it.' },
    { flags: '--access-key <ID>', summary: 'add: the id of the key. Initially a random one.' },
    ...Object.values(formerFlags).map((flags) => ({ flags, summary: 'Now of `holdfast key-ring`.' })),
  ],
  words: {
    placeholder: 'ACTION',
    choices: Object.keys(actions),
    summary: `${actionsSummary(actions)}. WHEN is a duration, a time or 'never'.`,
  },
  run,
}
