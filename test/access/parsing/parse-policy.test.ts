import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { builtInPolicies } from '../../../src/access/built-in-policies.ts'
import { compilePolicy } from '../../../src/access/compile-policy.ts'
import { parsePolicy, shortened } from '../../../src/access/parsing/parse-policy.ts'
import type { PolicyTarget } from '../../../src/access/parsing/policy-document.ts'
import { S3Error } from '../../../src/errors.ts'
import {
  account,
  anonymous,
  bucketArn,
  bucketTarget,
  policyText,
  request,
  type StatementSpec,
  user,
} from '../policy-world.ts'

const identity: PolicyTarget = { kind: 'identity' }
const storedTarget: PolicyTarget = { kind: 'bucket', bucket: 'photos', stored: true }
const base: StatementSpec = {
  Effect: 'Allow',
  Principal: '*',
  Action: 's3:GetObject',
  Resource: `${bucketArn}/*`,
}
const without = (...names: string[]): StatementSpec =>
  Object.fromEntries(Object.entries(base).filter(([name]) => !names.includes(name)))

function refusal(text: string, target: PolicyTarget = bucketTarget): [code: string, message: string] {
  try {
    parsePolicy(text, target)
  } catch (error) {
    if (error instanceof S3Error) return [error.code, error.message]
    throw error
  }
  return ['none', '']
}

const message = (statement: unknown, target?: PolicyTarget): string => {
  const [code, text] = refusal(policyText([statement as StatementSpec]), target)
  expect(code).toBe('MalformedPolicy')
  return text
}

describe('a policy that S3 refuses', () => {
  it.each([
    ['', "Policies must be valid JSON and the first byte must be '{'"],
    [' {}', "Policies must be valid JSON and the first byte must be '{'"],
    ['[]', "Policies must be valid JSON and the first byte must be '{'"],
    ['{"Version":"2012-10-17"', 'Policies must be valid JSON: a } is missing, at character 24'],
    [
      '{"Version":"2012-10-17","Version":"2012-10-17"}',
      'Policies must be valid JSON: "Version" is given twice, at character 34',
    ],
    ['{"Version":"2012-10-18","Statement":[]}', 'The policy must contain a valid version string: Version'],
    ['{"Version":20121017,"Statement":[]}', 'The policy must contain a valid version string: Version'],
    ['{"Version":"2012-10-17"}', 'Missing required field Statement'],
    ['{"Version":"2012-10-17","Statement":[]}', 'Could not parse the policy: Statement is empty!'],
    ['{"Version":"2012-10-17","Statement":["x"]}', 'A statement must be an object: statement #1'],
    ['{"Version":"2012-10-17","Statements":[]}', 'Unknown field: "Statements"'],
    ['{"Version":"2012-10-17","Id":1,"Statement":[]}', 'The element must be a string: Id'],
  ])('%s: %s', (text, expected) => {
    expect(refusal(text)).toEqual(['MalformedPolicy', expected])
  })

  const tooLarge = (what: string): string => `${what} exceeds the maximum allowed size of 20480 bytes`

  it('is larger than 20 KB', () => {
    const long = policyText([{ ...base, Sid: 'x'.repeat(20 * 1024) }])
    expect(refusal(long)).toEqual(['MalformedPolicy', tooLarge('Normalized policy document')])
    const room = 20 * 1024 - policyText([{ ...base, Sid: '' }]).length
    expect(refusal(policyText([{ ...base, Sid: 'x'.repeat(room) }]))).toEqual(['none', ''])
    expect(refusal(policyText([{ ...base, Sid: 'é'.repeat(room / 2 + 1) }]))[1]).toBe(
      tooLarge('Normalized policy document'),
    )
  })

  it('is larger than 20 KB, where white space counts only in policies of users', () => {
    const text = policyText([{ ...base, Sid: 'a  \\" \t b' }])
    const spaced = text.replace('{', `{${' \n'.repeat(20 * 1024)}`)
    expect(refusal(spaced)).toEqual(['none', ''])
    expect(shortened(spaced)).toBe(text)
    expect(refusal(spaced, identity)).toEqual(['MalformedPolicy', tooLarge('The policy document')])
    expect(refusal(spaced.replace('"Allow"', '"Al" "low"'))[0]).toBe('MalformedPolicy')
  })

  it('allows all but the named, unless it is stored already', () => {
    const statement = { ...without('Principal'), NotPrincipal: { AWS: '111122223333' } }
    expect(message(statement)).toBe('NotPrincipal needs the effect Deny: statement #1, NotPrincipal')
    expect(refusal(policyText([statement]), storedTarget)).toEqual(['none', ''])
    expect(refusal(policyText([{ ...statement, Effect: 'Deny' }]))).toEqual(['none', ''])
  })

  it.each([
    [without('Effect'), 'Missing required field Effect: statement #1'],
    [without('Principal'), 'Missing required field Principal: statement #1'],
    [without('Action'), 'Missing required field Action: statement #1'],
    [without('Resource'), 'Missing required field Resource: statement #1'],
    [{ ...base, Effect: 'allow' }, 'Invalid effect: statement #1, Effect "allow"'],
    [{ ...base, Sid: 7 }, 'The element must be a string: statement #1, Sid'],
    [{ ...base, Conditions: {} }, 'Unknown field: statement #1 "Conditions"'],
    [{ ...base, Sid: 'Read', NotPrincipal: '*' }, 'Principal and NotPrincipal exclude each other: statement "Read"'],
    [{ ...base, NotAction: 's3:*' }, 'Action and NotAction exclude each other: statement #1'],
    [{ ...base, NotResource: '*' }, 'Resource and NotResource exclude each other: statement #1'],
    [{ ...base, Action: [] }, 'The element has no value: statement #1, Action'],
    [{ ...base, Action: [1] }, 'The element must be a string, or a list of strings: statement #1, Action'],
    [{ ...base, Action: 's3:GetObjekt' }, 'Policy has invalid action: statement #1, Action "s3:GetObjekt"'],
    [{ ...base, Action: 'kms:Decrypt' }, 'Policy has invalid action: statement #1, Action "kms:Decrypt"'],
    [{ ...base, Action: 's3:Foo*' }, 'Policy has invalid action: statement #1, Action "s3:Foo*"'],
    [
      { ...base, Action: ['s3:CreateBucket'], Resource: 'arn:aws:s3:::photos' },
      'Policy has invalid action: statement #1, Action "s3:CreateBucket"',
    ],
    [
      { ...base, Sid: 'Read', Resource: 'arn:aws:s3:::other/*' },
      'Policy has invalid resource: statement "Read", Resource "arn:aws:s3:::other/*"',
    ],
    [
      { ...base, Resource: 'arn:aws:s3:::photo/*' },
      'Policy has invalid resource: statement #1, Resource "arn:aws:s3:::photo/*"',
    ],
    [{ ...base, Resource: 'photos/*' }, 'Policy has invalid resource: statement #1, Resource "photos/*"'],
    [
      { ...base, Resource: 'arn:aws:sqs:::photos' },
      'Policy has invalid resource: statement #1, Resource "arn:aws:sqs:::photos"',
    ],
    [
      { ...base, Resource: bucketArn },
      'Action does not apply to any resource(s) in statement: statement #1, Action "s3:GetObject"',
    ],
    [
      { ...base, Action: ['s3:GetObject', 's3:ListBucket'] },
      'Action does not apply to any resource(s) in statement: statement #1, Action "s3:ListBucket"',
    ],
    [
      { ...base, Action: 's3:ListAllMyBuckets', Resource: '*' },
      'Action does not apply to any resource(s) in statement: statement #1, Action "s3:ListAllMyBuckets"',
    ],
    [
      { ...base, Resource: `${bucketArn}/\${aws:nobody}` },
      'The policy variable is not evaluated by this server: statement #1, Resource "aws:nobody"',
    ],
    [{ ...base, Resource: `${bucketArn}/\${aws:username` }, 'a policy variable does not end: statement #1, Resource'],
    [{ ...base, Principal: {} }, 'Invalid principal in policy: statement #1, Principal'],
    [{ ...base, Principal: 'me' }, 'Invalid principal in policy: statement #1, Principal "me"'],
    [
      { ...base, Principal: { AWS: 'arn:aws:iam::1:role/x' } },
      'Invalid principal in policy: statement #1, Principal "arn:aws:iam::1:role/x"',
    ],
    [
      { ...base, Principal: { AWS: 'arn:aws:iam::1:user/*' } },
      'Invalid principal in policy: statement #1, Principal "arn:aws:iam::1:user/*"',
    ],
    [
      { ...base, Principal: { Service: 's3.example.com' } },
      'Invalid principal in policy: statement #1, Principal "s3.example.com"',
    ],
    [{ ...base, Principal: { CanonicalUser: '*' } }, 'Invalid principal in policy: statement #1, Principal "*"'],
    [{ ...base, Condition: [] }, 'Condition must be an object: statement #1, Condition'],
    [
      { ...base, Condition: { StringIs: { 'aws:UserAgent': 'x' } } },
      'Invalid Condition type: statement #1, Condition "StringIs"',
    ],
    [
      { ...base, Condition: { 'ForNoValue:StringEquals': { 'aws:UserAgent': 'x' } } },
      'Invalid Condition type: statement #1, Condition "ForNoValue:StringEquals"',
    ],
    [
      { ...base, Condition: { NullIfExists: { 'aws:UserAgent': 'true' } } },
      'Invalid Condition type: statement #1, Condition "NullIfExists"',
    ],
    [
      { ...base, Condition: { 'ForAnyValue:Null': { 'aws:UserAgent': 'true' } } },
      'Invalid Condition type: statement #1, Condition "ForAnyValue:Null"',
    ],
    [
      { ...base, Condition: { StringEquals: { 'aws:Nothing': 'x' } } },
      'Policy has an invalid condition key: statement #1, Condition StringEquals "aws:Nothing"',
    ],
    [
      { ...base, Condition: { StringEquals: { 'aws:SourceVpce': 'x' } } },
      'Policy has a condition key that this server does not evaluate: statement #1, Condition StringEquals "aws:SourceVpce"',
    ],
    [
      { ...base, Condition: { StringEquals: { 's3:prefix': 'x' } } },
      'Conditions do not apply to combination of actions and resources in statement: statement #1, Condition StringEquals "s3:prefix"',
    ],
    [
      {
        ...base,
        Action: ['s3:GetObject', 's3:DeleteObject'],
        Condition: { StringEquals: { 's3:ExistingObjectTag/a': 'b' } },
      },
      'Conditions do not apply to combination of actions and resources in statement: statement #1, Condition StringEquals "s3:ExistingObjectTag/a"',
    ],
    [
      { ...base, Condition: { StringEquals: { 'aws:UserAgent': [] } } },
      'The condition has no value: statement #1, Condition StringEquals aws:UserAgent',
    ],
    [
      { ...base, Condition: { StringEquals: { 'aws:UserAgent': null } } },
      'The value of a condition must be a string, a number or a Boolean: statement #1, Condition StringEquals aws:UserAgent',
    ],
    [
      { ...base, Condition: { IpAddress: { 'aws:SourceIp': '10.0.0.0/33' } } },
      'The value is not one that IpAddress compares: statement #1, Condition IpAddress aws:SourceIp "10.0.0.0/33"',
    ],
    [
      { ...base, Condition: { NumericEquals: { 's3:signatureAge': 'ten' } } },
      'The value is not one that NumericEquals compares: statement #1, Condition NumericEquals s3:signatureAge "ten"',
    ],
    [
      { ...base, Condition: { DateLessThan: { 'aws:CurrentTime': 'soon' } } },
      'The value is not one that DateLessThan compares: statement #1, Condition DateLessThan aws:CurrentTime "soon"',
    ],
    [
      { ...base, Condition: { Null: { 'aws:UserAgent': 'maybe' } } },
      'The value is not one that Null compares: statement #1, Condition Null aws:UserAgent "maybe"',
    ],
  ])('%j', (statement, expected) => {
    expect(message(statement)).toBe(expected)
  })

  it('gives two statements the same Sid', () => {
    expect(
      refusal(
        policyText([
          { ...base, Sid: 'A' },
          { ...base, Sid: 'A' },
        ]),
      )[1],
    ).toBe('Statement IDs (SID) in a single policy must be unique: statement #2 "A"')
    expect(
      refusal(
        policyText([
          { ...base, Sid: '' },
          { ...base, Sid: '' },
        ]),
      ),
    ).toEqual(['none', ''])
  })

  it('names principals though it belongs to one', () => {
    expect(message(base, identity)).toBe('Only a bucket policy can name principals: statement #1, Principal')
    expect(message(base, { kind: 'session' })).toContain('Only a bucket policy')
  })

  it('is not told back at length', () => {
    expect(message({ ...base, Action: `s3:${'x'.repeat(1000)}` }).length).toBeLessThan(250)
  })
})

describe('the costliest policy', () => {
  const all = Array.from(
    { length: 150 },
    (_, i) => `s3:*${String.fromCharCode(97 + (i % 26))}*${'e*'.repeat(1 + (i % 50))}`,
  )
  it.each<[string, StatementSpec]>([
    ['actions', { ...base, Action: [...all, ...Array.from({ length: 1000 }, () => 's3:*e*')] }],
    ['stars', { ...base, Resource: `${bucketArn}/${'*'.repeat(19_000)}` }],
    ['marks', { ...base, Resource: `${bucketArn}/${'*?'.repeat(9500)}` }],
    ['stars before the bucket', { ...base, Resource: `arn:aws:*${'*p'.repeat(9500)}` }],
    ['resources', { ...base, Resource: Array.from({ length: 2000 }, () => 'arn:*') }],
  ])('of %s takes no longer to put than it takes to read some megabytes', (_, statement) => {
    const text = policyText([statement])
    expect(text.length).toBeLessThan(20 * 1024)
    const cpuMs = (work: () => void): number => {
      const began = process.cpuUsage()
      work()
      const { user: spent, system } = process.cpuUsage(began)
      return (spent + system) / 1000
    }
    const least = (work: () => void): number => Math.min(...Array.from({ length: 5 }, () => cpuMs(work)))
    const md5Ms = least(() =>
      createHash('md5')
        .update(new Uint8Array(8 << 20))
        .digest(),
    )
    expect(least(() => refusal(text)) / md5Ms).toBeLessThan(8)
  })
})

describe('a policy that S3 takes', () => {
  it.each<[string, StatementSpec]>([
    ['one action as a string', base],
    ['a wildcard behind the bucket', { ...base, Resource: `${bucketArn}*` }],
    ['both resources', { ...base, Action: 's3:*', Resource: [bucketArn, `${bucketArn}/*`] }],
    ['everything', { ...base, Action: '*', Resource: '*' }],
    ['an action in another case', { ...base, Action: 'S3:getobject' }],
    ['an account', { ...base, Principal: { AWS: '111122223333' } }],
    [
      'principals of several kinds',
      {
        ...base,
        Principal: { AWS: ['arn:aws:iam::main:root', 'arn:aws:iam::main:user/a/b@c'], CanonicalUser: 'main' },
      },
    ],
    [
      'NotPrincipal, NotAction, NotResource',
      { Effect: 'Deny', NotPrincipal: { AWS: '1' }, NotAction: 's3:GetObject', NotResource: `${bucketArn}/a` },
    ],
    ['an empty Condition', { ...base, Condition: {} }],
    ['a variable', { ...base, Resource: `${bucketArn}/\${aws:username}/*` }],
  ])('%s', (_, statement) => {
    expect(refusal(policyText([statement]))).toEqual(['none', ''])
  })

  it('names the making of buckets, if it is stored or not of a bucket, or if a wildcard names it', () => {
    const making = { ...base, Action: 's3:CreateBucket', Resource: 'arn:aws:s3:::photos' }
    expect(refusal(policyText([making]), { kind: 'bucket', bucket: 'photos', stored: true })).toEqual(['none', ''])
    expect(refusal(policyText([{ ...making, Action: 's3:Create*' }]))).toEqual(['none', ''])
    const identity = { ...without('Principal'), Action: 's3:CreateBucket' }
    expect(refusal(policyText([identity]), { kind: 'identity' })).toEqual(['none', ''])
  })

  it('has a condition that some of its actions know, if it is stored or not of a bucket, or if a wildcard names them', () => {
    const mixes = {
      Action: ['s3:GetObject', 's3:DeleteObject'],
      Condition: { StringEquals: { 's3:ExistingObjectTag/a': 'b' } },
    }
    const mixed = { ...base, ...mixes }
    const ofUser = { ...without('Principal'), ...mixes }
    expect(refusal(policyText([mixed]), { kind: 'bucket', bucket: 'photos', stored: true })).toEqual(['none', ''])
    expect(refusal(policyText([ofUser]), identity)).toEqual(['none', ''])
    expect(refusal(policyText([{ ...mixed, Action: 's3:*' }]))).toEqual(['none', ''])
  })

  it('has one statement without a list around it, and no version', () => {
    const parsed = parsePolicy(JSON.stringify({ Id: 'x', Statement: base }), bucketTarget)
    expect(parsed).toMatchObject({ id: 'x', version: '2008-10-17', statements: [{ name: '#1' }] })
  })

  it('names who it is about', () => {
    const named = { AWS: ['*', '1', 'arn:aws:iam::2:root', 'arn:aws:iam::3:user/x'], CanonicalUser: ['4'] }
    const compiled = compilePolicy(parsePolicy(policyText([{ ...base, Principal: named }]), bucketTarget))
    expect(compiled.principals).toEqual([
      { kind: 'anyone' },
      { kind: 'account', accountId: '1' },
      { kind: 'account', accountId: '2' },
      { kind: 'user', accountId: '3', name: 'x' },
      { kind: 'account', accountId: '4' },
    ])
  })

  it('takes for variables what is text in the older version', () => {
    const statement = { ...base, Resource: `${bucketArn}/\${aws:username}` }
    const older = compilePolicy(parsePolicy(policyText([statement], '2008-10-17'), bucketTarget))
    const newer = compilePolicy(parsePolicy(policyText([statement]), bucketTarget))
    expect(older.evaluate(request({ resource: `${bucketArn}/ann` })).allows).toBeUndefined()
    expect(older.evaluate(request({ resource: `${bucketArn}/\${aws:username}` })).allows).toBe('#1')
    expect(newer.evaluate(request({ resource: `${bucketArn}/ann` })).allows).toBe('#1')
  })
})

describe('the built-in policies', () => {
  const evaluate = (name: string, action: string): boolean =>
    compilePolicy(parsePolicy(builtInPolicies.get(name) ?? '', identity)).evaluate(request({ action })).allows !==
    undefined

  it.each([
    ['readonly', ['s3:GetObject', 's3:GetBucketLocation'], ['s3:PutObject', 's3:ListBucket']],
    ['readwrite', ['s3:GetObject', 's3:PutObject', 's3:ListBucket', 's3:DeleteObject'], ['admin:CreateUser']],
    ['writeonly', ['s3:PutObject'], ['s3:GetObject', 's3:DeleteObject']],
    ['consoleAdmin', ['s3:PutObject', 'admin:CreateUser'], ['sts:AssumeRole']],
  ])('%s allows %j and not %j', (name, allowed, denied) => {
    expect(allowed.filter((action) => !evaluate(name, action))).toEqual([])
    expect(denied.filter((action) => evaluate(name, action))).toEqual([])
  })

  it('hold for what concerns no bucket, too', () => {
    const compiled = compilePolicy(parsePolicy(builtInPolicies.get('readwrite') ?? '', identity))
    const asked = request({ action: 's3:ListAllMyBuckets', resource: 'arn:aws:s3:::*' })
    expect(compiled.evaluate(asked).allows).toBe('#1')
  })
})

describe('NotAction and NotResource', () => {
  const compiled = compilePolicy(
    parsePolicy(
      policyText([
        { Effect: 'Allow', NotAction: ['s3:Delete*', 's3:PutObject'], NotResource: `${bucketArn}/secret/*` },
      ]),
      identity,
    ),
  )
  it.each([
    ['s3:GetObject', `${bucketArn}/a`, true],
    ['s3:DeleteObject', `${bucketArn}/a`, false],
    ['s3:PutObject', `${bucketArn}/a`, false],
    ['s3:GetObject', `${bucketArn}/secret/a`, false],
  ])('%s of %s: %s', (action, resource, expected) => {
    expect(compiled.evaluate(request({ action, resource })).allows !== undefined).toBe(expected)
  })
})

describe('Principal', () => {
  const ann = 'arn:aws:iam::111122223333:user/ann'
  const evaluate = (principal: unknown, who: Parameters<typeof request>[0]) =>
    compilePolicy(parsePolicy(policyText([{ ...base, Principal: principal }]), bucketTarget)).evaluate(request(who))

  it('tells a principal from its account', () => {
    expect(evaluate({ AWS: ann }, { principal: user('ann') })).toEqual({ allows: '#1' })
    expect(evaluate({ AWS: ann }, { principal: user('bob') })).toEqual({})
    expect(evaluate({ AWS: ann }, { principal: user('ann', '444455556666') })).toEqual({})
    expect(evaluate({ AWS: '111122223333' }, { principal: user('ann') })).toEqual({ allowsAccount: '#1' })
    expect(evaluate({ AWS: ['111122223333', ann] }, { principal: user('ann') })).toEqual({ allows: '#1' })
    expect(evaluate({ AWS: ann }, { principal: account() })).toEqual({})
  })

  it('means nobody who did not sign, but by a star', () => {
    expect(evaluate('*', { principal: anonymous })).toEqual({ allows: '#1' })
    expect(evaluate({ AWS: '*' }, { principal: anonymous })).toEqual({ allows: '#1' })
    expect(evaluate({ AWS: ann }, { principal: anonymous })).toEqual({})
  })

  const spared = (effect: string, named: unknown, who: Parameters<typeof request>[0]): boolean => {
    const statement = { ...without('Principal'), Effect: effect, NotPrincipal: named }
    const { allows, denies } = compilePolicy(parsePolicy(policyText([statement]), storedTarget)).evaluate(request(who))
    return allows === undefined && denies === undefined
  }

  it.each([
    [{ AWS: [ann, '111122223333'] }, user('ann'), true],
    [{ AWS: [ann] }, user('ann'), false],
    [{ AWS: ['111122223333'] }, user('ann'), false],
    [{ AWS: ['111122223333'] }, account(), true],
    [{ AWS: [ann] }, anonymous, false],
    ['*', anonymous, true],
  ])('of Deny and NotPrincipal %j spares %j: %s', (named, principal, expected) => {
    expect(spared('Deny', named, { principal })).toBe(expected)
  })

  it('of Allow and NotPrincipal leaves out whoever is named in any way', () => {
    expect(spared('Allow', { AWS: ann }, { principal: user('ann') })).toBe(true)
    expect(spared('Allow', { AWS: '111122223333' }, { principal: user('ann') })).toBe(true)
    expect(spared('Allow', { AWS: ann }, { principal: user('bob') })).toBe(false)
  })
})

describe('what a policy needs', () => {
  const compiled = compilePolicy(
    parsePolicy(
      policyText([
        { ...base, Condition: { StringEquals: { 's3:existingobjecttag/Class': 'open' } } },
        { ...base, Action: 's3:PutObject', Resource: `${bucketArn}/\${aws:username}/*` },
      ]),
      bucketTarget,
    ),
  )

  it('are the tags of an object, only for the actions that look at them', () => {
    expect(compiled.needs('s3:GetObject')).toEqual({ existingTags: true })
    expect(compiled.needs('s3:PutObject')).toEqual({ existingTags: false })
    expect([...compiled.keys].sort()).toEqual(['aws:username', 's3:ExistingObjectTag/Class'])
  })

  it('is asked for by the name that the policy gives a tag', () => {
    expect(compiled.evaluate(request({ values: { 's3:ExistingObjectTag/Class': 'open' } })).allows).toBe('#1')
  })

  it('is nothing, as long as it names nothing', () => {
    const never = { ...request(), value: () => expect.fail('asked') }
    expect(compilePolicy(parsePolicy(policyText([base]), bucketTarget)).evaluate(never).allows).toBe('#1')
  })
})
