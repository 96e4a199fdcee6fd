// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policy variables look like placeholders
/** Random policies and requests from a seed, in the words of AWS: what both evaluators are asked. */
import { type AccessPrincipal, accountOf, type ContextValue } from '../../src/access/access-request.ts'
import { evaluatedKeys, findConditionKey, s3Actions } from '../../src/access/condition-keys.ts'
import { conditionOperators, nullOperator } from '../../src/access/condition-operators.ts'

export const bucket = 'photos'
export const ownerId = '111122223333'
const strangerId = '444455556666'
const bucketArn = `arn:aws:s3:::${bucket}`
const keyNames = ['cats/tom.jpg', 'cats/a.png', 'dogs/rex', 'home/ann/notes', 'home/bob/notes', 'x-y']

export interface Statement {
  Sid?: string
  Effect: 'Allow' | 'Deny'
  Principal?: unknown
  NotPrincipal?: unknown
  Action?: readonly string[]
  NotAction?: readonly string[]
  Resource?: readonly string[]
  NotResource?: readonly string[]
  Condition?: Record<string, Record<string, readonly string[]>>
}

export interface Policy {
  Version: string
  Statement: Statement[]
}

/** One request, and all policies that have something to say about it. */
export interface Pair {
  principal: AccessPrincipal
  action: string
  resource: string
  values: Record<string, ContextValue>
  identity: Policy[]
  session: Policy | undefined
  bucket: Policy | undefined
}

/** What the first condition of the first statement is about, so that each operator and key has its share. */
interface First {
  key: string
  operator: string | undefined
}

type Random = () => number

export class PolicyWorld {
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  pair(): Pair {
    const principal = this.#principal()
    const operator = this.#chance(0.6) ? undefined : this.#oneOf(operatorNames)
    const key = operator === undefined ? this.#oneOf(drawnKeys) : this.#keyFor(operator)
    const first = { key, operator }
    const action = this.#actionWith(key)
    const resource =
      s3Actions.get(action.toLowerCase()) === 'object' ? `${bucketArn}/${this.#oneOf(keyNames)}` : bucketArn
    const asked = { principal, action, resource, values: this.#values(principal, action) }
    const statements = (kind: 'bucket' | 'identity', count: number): Policy => ({
      Version: this.#chance(0.9) ? '2012-10-17' : '2008-10-17',
      Statement: Array.from({ length: count }, (_, i) => this.#statement(asked, kind, i === 0 ? first : undefined)),
    })
    const isUser = principal.kind === 'user'
    const isInside = accountOf(principal) === ownerId
    return {
      ...asked,
      identity: isUser && this.#chance(0.9) ? [statements('identity', this.#chance(0.7) ? 1 : 2)] : [],
      session: isUser && this.#chance(0.1) ? statements('identity', this.#chance(0.7) ? 1 : 2) : undefined,
      bucket: this.#chance(isInside ? 0.25 : 0.97) ? statements('bucket', this.#chance(0.7) ? 1 : 2) : undefined,
    }
  }

  #principal(): AccessPrincipal {
    const which = this.#random()
    if (which < 0.1) return { kind: 'anonymous' }
    const accountId = this.#chance(0.85) ? ownerId : strangerId
    if (which < 0.16) return { kind: 'account', accountId }
    const name = this.#oneOf(['ann', 'bob'])
    const tags = new Map(this.#chance(0.7) ? [['team', this.#oneOf(words)]] : [])
    return { kind: 'user', accountId, name, id: `AIDA${name.toUpperCase()}`, tags }
  }

  #actionWith(key: string): string {
    const actions = [...(findConditionKey(tagged(key))?.row.actions ?? usualActions)]
    const usual = actions.filter((action) => s3Actions.get(action) !== 'none')
    return usual.length === 0 ? 's3:getobject' : this.#oneOf(usual)
  }

  #keyFor(operator: string): string {
    const keys = evaluatedKeys.filter((key) => operatorsOf(typeOf(key)).includes(operator))
    return keys.length === 0 ? 'aws:UserAgent' : this.#oneOf(keys)
  }

  /** What the request says, under every key that the principal doesn't. */
  #values(principal: AccessPrincipal, action: string): Record<string, ContextValue> {
    const values: Record<string, ContextValue> = {}
    for (const key of evaluatedKeys) {
      if (ownKeys.has(key) || !isOf(key, action) || this.#chance(0.15)) continue
      const pool = poolOf(key)
      const several = typeOf(key) === 'ArrayOfString'
      values[tagged(key)] = several ? pool.filter(() => this.#chance(0.5)) : this.#oneOf(pool)
      if (several && values[tagged(key)]?.length === 0) delete values[tagged(key)]
    }
    if (principal.kind === 'anonymous') delete values['aws:TokenIssueTime']
    return values
  }

  #statement(
    asked: Pick<Pair, 'principal' | 'action' | 'resource' | 'values'>,
    kind: 'bucket' | 'identity',
    first: First | undefined,
  ): Statement {
    const conditions = first === undefined ? this.#below(2) : this.#chance(0.9) ? 1 : 2
    const condition: Record<string, Record<string, readonly string[]>> = {}
    for (let i = 0; i < conditions; i++) {
      const named = (i === 0 ? first?.key : undefined) ?? this.#oneOf(everywhereKeys)
      const operator = this.#operatorFor(named, i === 0 ? first?.operator : undefined)
      condition[operator] = { ...condition[operator], [tagged(named)]: this.#wanted(operator, named, asked.values) }
    }
    return {
      Effect: this.#chance(0.8) ? 'Allow' : 'Deny',
      ...(kind === 'bucket' ? this.#principalElement(asked.principal) : {}),
      ...this.#actionElement(asked.action),
      ...this.#resourceElement(asked.resource),
      ...(conditions === 0 ? {} : { Condition: condition }),
    }
  }

  #principalElement(principal: AccessPrincipal): Partial<Statement> {
    const account = accountOf(principal) ?? strangerId
    const name = principal.kind === 'user' ? principal.name : 'ann'
    const arn = `arn:aws:iam::${account}:user/${name}`
    if (this.#chance(0.05))
      return { NotPrincipal: { AWS: this.#oneOf([[arn, account], [arn, account], [`${arn}x`], [arn], [account]]) } }
    if (this.#chance(0.4)) return { Principal: '*' }
    const named = [arn, account, `arn:aws:iam::${account}:root`, `${arn}x`, '*', '999900001111']
    return { Principal: { AWS: named.filter(() => this.#chance(0.4)).concat(this.#oneOf(named)) } }
  }

  #actionElement(action: string): Partial<Statement> {
    const upper = action.replace('s3:g', 's3:G')
    const matching = [upper, 's3:*', '*', `${action.slice(0, 7)}*`, `s3:?${action.slice(4)}`]
    if (this.#chance(0.08)) return { NotAction: [this.#chance(0.8) ? 's3:DeleteBucket' : this.#oneOf(matching)] }
    return {
      Action: [
        this.#chance(0.95) ? this.#oneOf(matching) : 's3:DeleteBucket',
        ...(this.#chance(0.2) ? ['s3:PutBucketPolicy'] : []),
      ],
    }
  }

  #resourceElement(resource: string): Partial<Statement> {
    const both = [bucketArn, `${bucketArn}/*`]
    if (this.#chance(0.08))
      return {
        NotResource: [
          `${bucketArn}/${this.#oneOf(['cats/*', 'nothing', '*'])}`,
          ...(this.#chance(0.3) ? [bucketArn] : []),
        ],
      }
    const narrow = ['cats/*', 'home/${aws:username}/*', "home/${aws:username, 'ann'}/*", '*o*', 'x?y', 'x${*}y'].map(
      (of) => `${bucketArn}/${of}`,
    )
    return {
      Resource: this.#chance(0.75)
        ? both
        : [this.#oneOf([resource, `${bucketArn}*`, ...narrow]), ...(this.#chance(0.7) ? both : [])],
    }
  }

  #operatorFor(key: string, wanted?: string): string {
    const type = typeOf(key)
    const operator = wanted ?? this.#oneOf(operatorsOf(type))
    if (operator === nullOperator) return operator
    const quantified = type === 'ArrayOfString' || this.#chance(0.05)
    const quantifier = quantified ? this.#oneOf(['ForAllValues:', 'ForAnyValue:']) : ''
    return `${quantifier}${operator}${this.#chance(0.12) ? 'IfExists' : ''}`
  }

  /** Often what the request says, so that conditions hold as often as not. */
  #wanted(operator: string, key: string, values: Record<string, ContextValue>): string[] {
    if (operator === nullOperator) return [this.#oneOf(['true', 'false'])]
    const given = values[tagged(key)]
    const pool = poolOf(key)
    const count = 1 + this.#below(3)
    return Array.from({ length: count }, () => {
      const value = given !== undefined && this.#chance(0.45) ? [given].flat()[0] : this.#oneOf(pool)
      return this.#decorated(operator, value ?? this.#oneOf(pool))
    })
  }

  #decorated(operator: string, value: string): string {
    if (operator.includes('Binary')) return /^(?:\w{4})+$/.test(value) ? value : 'QUJD'
    if (/Like|Arn/.test(operator) && this.#chance(0.5)) {
      const at = this.#below(value.length + 1)
      const isArn = operator.includes('Arn')
      const cut = isArn ? Math.max(at, value.lastIndexOf(':') + 1) : at
      return this.#chance(0.5) ? `${value.slice(0, cut)}*` : `${value.slice(0, -1)}?`
    }
    if (operator.includes('IgnoreCase')) return value.toUpperCase()
    if (operator.includes('Ip')) return this.#oneOf([value, ...ranges])
    if (operator.includes('String') && this.#chance(0.08))
      return this.#oneOf(['${aws:username}', "${aws:username, 'ann'}", '${aws:PrincipalTag/team}', '${s3:prefix}'])
    return value
  }

  #chance(share: number): boolean {
    return this.#random() < share
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count)
  }

  #oneOf<T>(items: readonly T[]): T {
    const item = items[this.#below(items.length)]
    if (item === undefined) throw new Error('nothing to choose from')
    return item
  }
}

const words = ['ann', 'bob', 'redd', 'Redd', 'a.b', 'QUJD']
const numbers = ['0', '1', '5', '7.5', '100', '1000']
const times = ['2026-01-01T00:00:00Z', '2026-01-02T03:04:05Z', '2026-06-01T00:00:00Z', '2027-01-01T00:00:00Z']
const seconds = ['1767225600', '1767323045', '1780272000', '1798761600']
const addresses = ['203.0.113.7', '203.0.113.200', '198.51.100.1', '2001:db8::1', '2001:db9::1']
const ranges = ['203.0.113.0/24', '203.0.113.0/25', '198.51.100.0/24', '2001:db8::/32', '0.0.0.0/0']
const arns = ['a', 'b', 'c/d'].map((id) => `arn:aws:kms:eu-west-1:${ownerId}:key/${id}`)
const principalArns = [ownerId, strangerId].flatMap((id) => [
  `arn:aws:iam::${id}:user/ann`,
  `arn:aws:iam::${id}:user/bob`,
  `arn:aws:iam::${id}:root`,
])

/** What the principal says by itself. */
const ownKeys: ReadonlySet<string> = new Set([
  'aws:PrincipalAccount',
  'aws:PrincipalArn',
  'aws:PrincipalIsAWSService',
  'aws:PrincipalTag/',
  'aws:PrincipalType',
  'aws:userid',
  'aws:username',
  'aws:ViaAWSService',
])

const pools: Readonly<Record<string, readonly string[]>> = {
  'aws:PrincipalAccount': [ownerId, strangerId],
  'aws:PrincipalArn': principalArns,
  'aws:PrincipalType': ['User', 'Account', 'Anonymous'],
  'aws:userid': ['AIDAANN', 'AIDABOB', ownerId, 'anonymous'],
  'aws:username': ['ann', 'bob'],
  'aws:EpochTime': seconds,
}

const byType: Readonly<Record<string, readonly string[]>> = {
  Numeric: numbers,
  Date: times,
  Bool: ['true', 'false'],
  IPAddress: addresses,
  ARN: arns,
}

export const tagged = (key: string): string => (key.endsWith('/') ? `${key}team` : key)
const poolOf = (key: string): readonly string[] => pools[key] ?? byType[typeOf(key)] ?? words
const typeOf = (key: string): string => findConditionKey(tagged(key))?.row.type ?? 'String'

export const operatorNames: readonly string[] = [...conditionOperators.map(({ name }) => name), nullOperator]
const starting = (...starts: string[]): string[] =>
  operatorNames.filter((name) => starts.some((start) => name.startsWith(start)))

const operatorsByType: Readonly<Record<string, readonly string[]>> = {
  Numeric: starting('Numeric', 'Null'),
  Date: starting('Date', 'Null'),
  Bool: starting('Bool', 'Null'),
  IPAddress: starting('Ip', 'NotIp', 'Null'),
  ARN: starting('Arn', 'Null'),
  ArrayOfString: starting('String'),
  String: starting('String', 'Null', 'Binary'),
}
const operatorsOf = (type: string): readonly string[] => operatorsByType[type] ?? starting('String')

const usualActions = ['s3:getobject', 's3:putobject', 's3:listbucket', 's3:deleteobject', 's3:getobjecttagging']
const isOf = (key: string, action: string): boolean =>
  findConditionKey(tagged(key))?.row.actions?.has(action.toLowerCase()) !== false
/** Of Booleans there is less to say, so they are drawn more often. */
const drawnKeys = [...evaluatedKeys, ...evaluatedKeys.filter((key) => typeOf(key) === 'Bool')]
const everywhereKeys = evaluatedKeys.filter((key) => findConditionKey(tagged(key))?.row.actions === undefined)
