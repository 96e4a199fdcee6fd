/** `holdfast access explain`: prints the decision about a request, and the reason. */
import { existsSync } from 'node:fs'
import { isIP } from 'node:net'
import { findConditionKey, s3Actions } from '../../access/condition-keys.ts'
import type { Decision } from '../../access/decide.ts'
import { isSaidByPrincipal } from '../../access/principal-values.ts'
import { reasonText } from '../../access/reason-text.ts'
import { referenceActions } from '../../access/service-reference.ts'
import type { Credentials } from '../../auth/credentials.ts'
import { nobody, type Principal } from '../../auth/principal.ts'
import { systemClock } from '../../clock.ts'
import { ConfigurationError } from '../../config/configuration-error.ts'
import { didYouMean } from '../../config/suggestion.ts'
import type { Identities, ServedIdentities } from '../../identities/identities.ts'
import { openIdentities } from '../../identities/open-identities.ts'
import { IdentityRefused } from '../../identities/refusal.ts'
import { openKeyRing } from '../../instance/key-ring-file.ts'
import { openAccountBlocks } from '../../opening/account-blocks.ts'
import type { OpenMetadata } from '../../opening/open-backend.ts'
import { explainAccess, namedResource, usualConditions } from '../../operations/access/explain-access.ts'
import type { ConditionValue, ScopedResource } from '../../operations/context.ts'
import { operations } from '../../operations/table.ts'
import type { Tag } from '../../records/object-attributes.ts'
import { isoTime } from '../../time-text.ts'
import type { Invocation } from '../command.ts'
import { accountsOf } from '../instance.ts'
import { withMetadata } from '../stopped-data.ts'

export async function explain(invocation: Invocation, words: readonly string[]): Promise<number> {
  const { configuration, json, print } = invocation
  const [key, action, named] = words
  if (key === undefined || action === undefined || named === undefined || words.length > 3)
    throw new ConfigurationError('expects `access explain KEY ACTION RESOURCE`')
  const permission = readAction(action)
  const resource = readResource(named, permission)
  const context = readContext(invocation)
  const isAnonymous = key === 'anonymous'
  const missing = new Set<string>()
  const ask = async (metadata: OpenMetadata, identities: ServedIdentities): Promise<Decision> => {
    const principal = isAnonymous ? nobody : await principalIn(identities, key)
    const usual = usualConditions(configuration.region, metadata.clock.now(), isAnonymous)
    const versionId = context.get('s3:versionid')
    return explainAccess(metadata, {
      principal,
      permission,
      resource: { ...resource, versionId: typeof versionId === 'string' ? versionId : undefined },
      withoutBucket: madeWithoutBucket.has(permission),
      existingTags: tagsIn(context),
      accountBlocks: openAccountBlocks(identities, configuration),
      conditionValue: (name) => {
        const value = context.get(name) ?? usual.get(name)
        if (value === undefined) missing.add(name)
        return value
      },
    })
  }
  const decision = await withMetadata(invocation, (metadata) => withIdentities(invocation, metadata, ask))
  const reason = reasonText(decision.because)
  const notGiven = [...missing].sort()
  if (json)
    print(
      JSON.stringify({ event: 'decision', key, action: permission, resource: named, ...decision, reason, notGiven }),
    )
  else {
    print(`${decision.allowed ? 'allowed' : 'denied'}: ${reason}`)
    if (notGiven.length > 0) print(`a condition asked for what was not given: ${notGiven.join(', ')}`)
  }
  return 0
}

/** Actions without an existing bucket: they create it, or concern none. */
const madeWithoutBucket: ReadonlySet<string> = new Set(
  operations
    .filter(({ errors, implemented }) => implemented && !errors.includes('NoSuchBucket'))
    .flatMap(({ permission }) => permission),
)

/** Reads an action: `GetObject` and `s3:getobject` become `s3:GetObject`. */
function readAction(text: string): string {
  const lower = (text.includes(':') ? text : `s3:${text}`).toLowerCase()
  const names = referenceActions().map(({ name }) => `s3:${name}`)
  const spelled = names.find((name) => name.toLowerCase() === lower)
  if (spelled !== undefined) return spelled
  const operation = operations.find(({ name }) => `s3:${name.toLowerCase()}` === lower)
  const [permission] = [operation?.permission ?? []].flat()
  throw new ConfigurationError(
    permission === undefined
      ? `there is no action '${text}'${didYouMean(`s3:${lower.slice(3)}`, names)}`
      : `'${text}' is an operation; the action that it asks for is ${permission}`,
  )
}

/** Reads the resource, and checks that the action applies to it. */
function readResource(text: string, permission: string): ScopedResource {
  const { bucket, key } = namedResource(text)
  const target = s3Actions.get(permission.toLowerCase())
  const isStar = bucket === '' && text.endsWith('*') && !text.includes('/')
  if (bucket === '' && !isStar) throw new ConfigurationError(`'${text}' names no bucket`)
  if (isStar && target !== 'none') throw new ConfigurationError(`${permission} is about one bucket: name it`)
  if (target === 'none') return { bucket: '', key: '' }
  if (target === 'object' && key === '')
    throw new ConfigurationError(`${permission} is about an object: name it as bucket/key`)
  if (target === 'bucket' && key !== '')
    throw new ConfigurationError(`${permission} is about a bucket: name it without a key`)
  return { bucket, key }
}

/** Calls `work` with the configuration's identities and those made at run time. */
async function withIdentities<T>(
  { configuration, notice }: Invocation,
  metadata: OpenMetadata,
  work: (metadata: OpenMetadata, identities: ServedIdentities) => Promise<T>,
): Promise<T> {
  const { kv, clock, directory, shared } = metadata
  // The server's first start makes the file. This command must not.
  const accounts = existsSync(directory.credentials)
    ? (await accountsOf(configuration, directory.credentials)).accounts
    : configuration.accounts
  const keys = await openKeyRing(kv, directory.keyRing, configuration, { owner: false, clock, shared })
  const identities = await openIdentities({ backend: { kv, clock, keys }, accounts, warn: notice })
  try {
    return await work(metadata, identities)
  } finally {
    await identities.close()
  }
}

/** Throws `ConfigurationError`, which says why the key or user is not accepted. */
async function principalIn(identities: ServedIdentities, key: string): Promise<Principal> {
  const { credentials, verbs } = identities
  const isUser = key.includes('/')
  const principal = isUser ? userNamed(credentials, key) : credentials.find(key)
  if (principal !== undefined) return principal
  const [account = '', name = ''] = key.split('/')
  const reason = isUser ? await whyNoUser(verbs, account, name) : await whyNoKey(verbs, key)
  throw new ConfigurationError(`no ${isUser ? 'user' : 'access key'} '${key}' is accepted: ${reason}`)
}

async function whyNoKey(verbs: Identities, accessKeyId: string): Promise<string> {
  const found = await unlessRefused(verbs.keys.get(accessKeyId))
  if (found === undefined) return 'there is none of this id, or it is a temporary one'
  if (found.disabled) return 'it is disabled'
  if (found.expiresMs !== undefined && found.expiresMs <= systemClock.now()) {
    return `it expired at ${isoTime(found.expiresMs)}`
  }
  return found.user === undefined ? whyNoAccount(verbs, found.accountId) : whyNoUser(verbs, found.accountId, found.user)
}

async function whyNoUser(verbs: Identities, account: string, name: string): Promise<string> {
  const found = await unlessRefused(verbs.users.get(account, name))
  if (found?.disabled === true) return `the user ${account}/${name} is disabled`
  return found === undefined ? `there is no user ${account}/${name}` : whyNoAccount(verbs, account)
}

async function whyNoAccount(verbs: Identities, account: string): Promise<string> {
  const found = await unlessRefused(verbs.accounts.get(account))
  return found?.disabled === true ? `the account ${account} is disabled` : `the account ${account} is not accepted`
}

async function unlessRefused<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof IdentityRefused) return undefined
    throw error
  }
}

/** The user named like `main/ann`. The user need not have a key. */
function userNamed({ identities }: Credentials, named: string): Principal | undefined {
  const isNamed = ({ accountId, user }: Principal): boolean => `${accountId}/${user?.name}` === named
  return [...identities.users.values()].find(isNamed)
}

type Context = ReadonlyMap<string, ConditionValue>

/** The condition values from the flags. A repeated key has several values. */
function readContext({ extra: { from, userAgent, secure, context = [] } }: Invocation): Context {
  const values = new Map<string, ConditionValue>()
  if (typeof from === 'string') {
    if (isIP(from) === 0) throw new ConfigurationError(`--from: '${from}' is not an IP address`)
    values.set('aws:SourceIp', from)
  }
  if (typeof userAgent === 'string') values.set('aws:UserAgent', userAgent)
  if (secure === true) values.set('aws:SecureTransport', 'true')
  for (const given of Array.isArray(context) ? context : []) {
    const [key, value] = readPair(String(given))
    const before = values.get(key)
    values.set(key, before === undefined ? value : [before, value].flat())
  }
  return values
}

function readPair(given: string): [key: string, value: string] {
  const equals = given.indexOf('=')
  if (equals < 1) throw new ConfigurationError(`--context: expects KEY=VALUE, not '${given}'`)
  const name = given.slice(0, equals)
  const found = findConditionKey(name)
  if (found?.row.use !== 'evaluated') throw new ConfigurationError(`--context: no policy can ask for '${name}' here`)
  if (isSaidByPrincipal(found.spelled)) throw new ConfigurationError(`--context: '${name}' is what the access key says`)
  return [found.spelled, given.slice(equals + 1)]
}

const existingTag = 's3:ExistingObjectTag/'

/** Tags that replace those of the object. `undefined`: the flags give none. */
function tagsIn(context: Context): readonly Tag[] | undefined {
  const tags = [...context].flatMap(([name, value]): Tag[] =>
    name.startsWith(existingTag) ? [{ key: name.slice(existingTag.length), value: String(value) }] : [],
  )
  return tags.length === 0 ? undefined : tags
}
