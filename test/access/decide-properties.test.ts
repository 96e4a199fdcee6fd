import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compilePolicy } from '../../src/access/compile-policy.ts'
import { type Decision, decide } from '../../src/access/decide.ts'
import { type Grant, noPublicAccessBlock, type PublicAccessBlock } from '../../src/access/grants.ts'
import { parsePolicy } from '../../src/access/parsing/parse-policy.ts'
import { S3Error } from '../../src/errors.ts'
import { seededRandom } from '../support/seeded.ts'
import {
  bucket,
  ownerId,
  type Pair,
  type Policy,
  PolicyWorld,
  type Statement,
} from '../trust/policy-simulator-world.ts'

interface Around {
  grants?: readonly Grant[]
  block?: PublicAccessBlock
}

function decided(pair: Pair, { grants, block = noPublicAccessBlock }: Around = {}): Decision {
  const { principal, action, resource, values } = pair
  const identity = (policy: Policy) => compilePolicy(parsePolicy(JSON.stringify(policy), { kind: 'identity' }))
  const ofBucket = pair.bucket && parsePolicy(JSON.stringify(pair.bucket), { kind: 'bucket', bucket })
  return decide({
    request: { principal, action, resource, value: (key) => values[key] },
    identityPolicies:
      principal.kind === 'account' ? undefined : pair.identity.map((of) => ({ name: 'x', policy: identity(of) })),
    sessionPolicy: pair.session && identity(pair.session),
    bucket: {
      owner: ownerId,
      ownership: 'ObjectWriter',
      grants: grants ?? [],
      publicAccessBlock: block,
      policy: ofBucket && compilePolicy(ofBucket),
    },
    object: { owner: ownerId, grants: grants ?? [] },
  })
}

/** Random pairs, whatever may be added to them. */
const pairs = fc
  .integer({ min: 0 })
  .map((seed) => new PolicyWorld(seededRandom(seed)).pair())
  .filter((pair) => {
    try {
      decided(pair)
      return true
    } catch (error) {
      if (error instanceof S3Error) return false
      throw error
    }
  })

const runs = { numRuns: 200 }
const anyone: Partial<Statement> = { Principal: '*', Action: ['s3:*'], Resource: ['*'] }
const everyone: Grant = { grantee: { kind: 'everyone' }, permission: 'FULL_CONTROL' }

function withBucketStatement(pair: Pair, effect: 'Allow' | 'Deny'): Pair {
  const statements = [...(pair.bucket?.Statement ?? []), { Effect: effect, ...anyone }]
  return { ...pair, bucket: { Version: '2012-10-17', Statement: statements } }
}

describe('a decision', () => {
  it('is never to allow what anything denies to everybody', () => {
    fc.assert(
      fc.property(pairs, (pair) => {
        expect(decided(withBucketStatement(pair, 'Deny'), { grants: [everyone] }).allowed).toBe(false)
      }),
      runs,
    )
  })

  it('is not taken back by what allows more', () => {
    fc.assert(
      fc.property(pairs, (pair) => {
        const before = decided(pair).allowed
        const older = pair.bucket?.Version === '2008-10-17'
        if (before && !older) expect(decided(withBucketStatement(pair, 'Allow')).allowed).toBe(true)
        if (before) expect(decided(pair, { grants: [everyone] }).allowed).toBe(true)
      }),
      runs,
    )
  })

  it('is only narrowed by a session policy', () => {
    fc.assert(
      fc.property(pairs, (pair) => {
        if (decided(pair).allowed) expect(decided({ ...pair, session: undefined }).allowed).toBe(true)
      }),
      runs,
    )
  })

  it('is only narrowed by a public access block', () => {
    const block = {
      blockPublicAcls: true,
      ignorePublicAcls: true,
      blockPublicPolicy: true,
      restrictPublicBuckets: true,
    }
    fc.assert(
      fc.property(pairs, (pair) => {
        if (decided(pair, { block, grants: [everyone] }).allowed)
          expect(decided(pair, { grants: [everyone] }).allowed).toBe(true)
      }),
      runs,
    )
  })

  it('says Allow where it allows, and Deny where a statement denies', () => {
    fc.assert(
      fc.property(pairs, (pair) => {
        const { allowed, because } = decided(pair)
        if (because.by === 'statement') expect(because.effect).toBe(allowed ? 'Allow' : 'Deny')
        if (because.by === 'default' || because.by === 'public access block') expect(allowed).toBe(false)
        if (because.by === 'owner' || because.by === 'grant') expect(allowed).toBe(true)
      }),
      runs,
    )
  })
})
