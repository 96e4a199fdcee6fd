/** What whoever began an upload may do with it, beside what policies say: S3 documents that it may abort it and list its parts. */
import { expect } from 'vitest'
import { ownedBy } from '../support/wire-acl.ts'
import type { Ask } from '../support/wire-client.ts'
import { type Given, type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { otherKey } from '../support/wire-server.ts'
import { textIn } from '../support/wire-uploads.ts'

const key = 'a'
const byOther = { signedBy: otherKey } as const
const denied = refusal('AccessDenied')
const begin: Ask = { method: 'POST', key, query: { uploads: '' } }

const statement = (Effect: string, Action: string) => ({
  Effect,
  Action,
  Principal: '*',
  Resource: 'arn:aws:s3:::wire/*',
})
const policy = (...statements: ReturnType<typeof statement>[]): Ask => ({
  method: 'PUT',
  query: { policy: '' },
  body: JSON.stringify({ Version: '2012-10-17', Statement: statements }),
})
const mayWrite = statement('Allow', 's3:PutObject')

/** An upload, in a bucket that everybody may write to and do nothing else. */
const begun =
  (by: Partial<Ask>, ...more: Ask[]): Given =>
  async (wire) => {
    await wire.must(policy(mayWrite))
    const uploadId = textIn(await wire.must({ ...begin, ...by }), 'UploadId')
    for (const ask of more) await wire.must(ask)
    return { uploadId }
  }

const abort: Ask = { method: 'DELETE', key, query: { uploadId: '{{uploadId}}' }, ...byOther }
const parts: Ask = { method: 'GET', key, query: { uploadId: '{{uploadId}}' } }
const mayNot = (it: string, row: Pick<Row, 'given' | 'ask'>): Row => ({ it, ...denied, ...row })

wireTests('AbortMultipartUpload', [
  { it: 'whoever began an upload aborts it', status: 204, given: begun(byOther), ask: abort },
  mayNot('no other account does', { given: begun({}), ask: abort }),
  mayNot('nor the initiator where a policy denies it', {
    given: begun(byOther, policy(mayWrite, statement('Deny', 's3:AbortMultipartUpload'))),
    ask: abort,
  }),
])

wireTests('ListParts', [
  {
    it: 'whoever began an upload lists its parts, and is named',
    status: 200,
    given: begun(byOther),
    ask: { ...parts, ...byOther },
    afterwards: async (_, { body }) => {
      expect(body.toString()).toMatch(/<Initiator><ID>other<.*<Owner><ID>main</s)
    },
  },
  mayNot('no other account does', { given: begun({}), ask: { ...parts, ...byOther } }),
  {
    it: 'an upload of the owner of the bucket names him',
    status: 200,
    given: begun({}),
    ask: parts,
    afterwards: async (_, { body }) => {
      expect(body.toString()).toMatch(/<Initiator><ID>main<.*<Owner><ID>main</s)
    },
  },
])

wireTests('ListMultipartUploads', [
  {
    it: 'names who began an upload to an object that will be the owner’s',
    status: 200,
    given: async (wire) => {
      await ownedBy('BucketOwnerPreferred')(wire)
      await begun({ ...byOther, vendor: { acl: 'bucket-owner-full-control' } })(wire)
    },
    ask: { method: 'GET', query: { uploads: '' } },
    afterwards: async (_, { body }) => {
      expect(body.toString()).toMatch(/<Initiator><ID>other<.*<Owner><ID>main</s)
    },
  },
])
