/** Policies that ask for encryption, and uploads in parts: clients name the encryption only when they begin, as S3 documents it. */
import type { Ask } from '../support/wire-client.ts'
import { type Given, type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { completeDocument, putPart, textIn } from '../support/wire-uploads.ts'

const key = 'a'
const header = 's3:x-amz-server-side-encryption'
const denied = refusal('AccessDenied')

const deniedUnless = (condition: Record<string, Record<string, string>>): Ask => ({
  method: 'PUT',
  query: { policy: '' },
  body: JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      { Effect: 'Deny', Principal: '*', Action: 's3:PutObject', Resource: 'arn:aws:s3:::wire/*', Condition: condition },
    ],
  }),
})
const encrypted = deniedUnless({ StringNotEquals: { [header]: 'AES256' } })
const named = deniedUnless({ Null: { [header]: 'true' } })
const byKms = deniedUnless({ StringNotEquals: { [header]: 'aws:kms' } })
const byKey = deniedUnless({ StringNotEquals: { [`${header}-aws-kms-key-id`]: 'aws/s3' } })

/** Begins an upload, puts a part, and then the policy. */
const begun =
  (vendor: Record<string, string>, ...policies: Ask[]): Given =>
  async (wire) => {
    await wire.must({ method: 'PUT', key: 'source', body: 'data' })
    const uploadId = textIn(await wire.must({ method: 'POST', key, query: { uploads: '' }, vendor }), 'UploadId')
    const etag = await putPart(wire, uploadId, 1, 'data', {}, key)
    for (const policy of policies) await wire.must(policy)
    return { uploadId, document: completeDocument([[1, etag]]) }
  }

const aes = { 'server-side-encryption': 'AES256' }
const kms = { 'server-side-encryption': 'aws:kms' }
const part: Ask = { method: 'PUT', key, query: { partNumber: '2', uploadId: '{{uploadId}}' }, body: 'more' }
const copied: Ask = { ...part, body: '', vendor: { 'copy-source': '/wire/source' } }
const complete: Ask = { method: 'POST', key, query: { uploadId: '{{uploadId}}' }, body: '{{document}}' }
const may = (it: string, row: Pick<Row, 'given' | 'ask' | 'vendor'>): Row => ({ it, status: 200, vendor: aes, ...row })
const mayNot = (it: string, row: Pick<Row, 'given' | 'ask'>): Row => ({ it, ...denied, ...row })

wireTests('UploadPart', [
  may('a part of an encrypted upload is what a policy asks for', { given: begun(aes, encrypted), ask: part }),
  may('also if the policy only asks that it be named', { given: begun(aes, named), ask: part }),
  may('or for a key of KMS', {
    given: begun(kms, byKms, byKey),
    ask: part,
    vendor: { ...kms, '{{kmsKeyId}}': 'aws/s3' },
  }),
  mayNot('a part of an upload that is encrypted otherwise is not', { given: begun(kms, encrypted), ask: part }),
  mayNot('nor one of an upload without encryption', { given: begun({}, encrypted), ask: part }),
  mayNot('nor one of an upload that there is not', {
    given: begun(aes, encrypted),
    ask: { ...part, query: { partNumber: '2', uploadId: '0'.repeat(32) } },
  }),
  mayNot('nor one of an upload to another key', { given: begun(aes, encrypted), ask: { ...part, key: 'b' } }),
])

wireTests('UploadPartCopy', [
  may('a copied part of an encrypted upload is what a policy asks for', { given: begun(aes, encrypted), ask: copied }),
  mayNot('one of an upload without encryption is not', { given: begun({}, encrypted), ask: copied }),
])

wireTests('CompleteMultipartUpload', [
  may('an encrypted upload ends as a policy asks', { given: begun(aes, encrypted), ask: complete }),
  may('and so does a repeated end', {
    given: async (wire) => {
      const facts = await begun(aes)(wire)
      if (facts === undefined) throw new Error('no upload was begun')
      const { uploadId = '', document = '' } = facts
      await wire.must({ ...complete, query: { uploadId }, body: document })
      await wire.must(encrypted)
      return facts
    },
    ask: complete,
  }),
  mayNot('an upload without encryption does not', { given: begun({}, encrypted), ask: complete }),
])
