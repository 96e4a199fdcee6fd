/** Policies that ask for an entity tag in a write's If-Match. S3 compares it without its quotes. */
import { md5Hex } from '../support/wire-checksums.ts'
import { type Given, refusal, wireTests } from '../support/wire-rows.ts'
import { otherKey } from '../support/wire-server.ts'

const tag = md5Hex('old')
const ofOther = { Effect: 'Allow', Principal: { AWS: 'other' }, Resource: 'arn:aws:s3:::wire/*' }

/** An object, which another account may read, and write if it names this tag. */
const ifItNames =
  (named: string): Given =>
  async (wire) => {
    await wire.must({ method: 'PUT', key: 'a', body: 'old' })
    const mayRead = { ...ofOther, Action: 's3:GetObject' }
    const mayWrite = { ...ofOther, Action: 's3:PutObject', Condition: { StringEquals: { 's3:if-match': named } } }
    const body = JSON.stringify({ Version: '2012-10-17', Statement: [mayRead, mayWrite] })
    await wire.must({ method: 'PUT', query: { policy: '' }, body })
  }
const write = (headers: Record<string, string>) =>
  ({ method: 'PUT', key: 'a', body: 'new', headers, signedBy: otherKey }) as const
const denied = refusal('AccessDenied', {})

wireTests('PutObject', [
  { it: 'is allowed for the tag', status: 200, given: ifItNames(tag), ask: write({ 'If-Match': `"${tag}"` }) },
  { it: 'is denied for another tag', ...denied, given: ifItNames(tag), ask: write({ 'If-Match': '"another"' }) },
  { it: 'is denied without a tag', ...denied, given: ifItNames(tag), ask: write({}) },
  {
    it: 'is allowed for any tag, if the policy says so',
    status: 200,
    given: ifItNames('*'),
    ask: write({ 'If-Match': '*' }),
  },
  {
    it: 'is denied if the policy names the tag in quotes',
    ...denied,
    given: ifItNames(`"${tag}"`),
    ask: write({ 'If-Match': `"${tag}"` }),
  },
])
