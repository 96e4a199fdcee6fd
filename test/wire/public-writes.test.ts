/** What a right to write into a bucket is worth where there already is an object: only its owner may replace it, as in S3. */
import { expect } from 'vitest'
import { ownedBy } from '../support/wire-acl.ts'
import { md5Base64 } from '../support/wire-checksums.ts'
import type { Ask, Wire } from '../support/wire-client.ts'
import { type Given, type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { otherKey } from '../support/wire-server.ts'
import { completeDocument, putPart, textIn } from '../support/wire-uploads.ts'
import { enabled } from '../support/wire-versions.ts'

const key = 'a'
const denied = refusal('AccessDenied')
const unsigned = { unsigned: true } as const
const byOther = { signedBy: otherKey } as const
const begin: Ask = { method: 'POST', key, query: { uploads: '' } }
const write = (more: Partial<Ask> = {}): Ask => ({
  method: 'PUT',
  key,
  body: 'data',
  headers: { 'Content-MD5': md5Base64('data') },
  ...more,
})
const opened = (vendor: Record<string, string> = { acl: 'public-read-write' }): Ask => ({
  method: 'PUT',
  query: { acl: '' },
  vendor,
})

/** A bucket that others may write to, and what is asked of it before. */
const open =
  (...asks: Ask[]): Given =>
  async (wire) => {
    await ownedBy('ObjectWriter')(wire)
    for (const ask of [opened(), ...asks]) await wire.must(ask)
  }

const stays = async (wire: Wire): Promise<void> =>
  expect((await wire.must({ method: 'GET', key })).body.toString()).toBe('data')
const mayNot = (it: string, row: Pick<Row, 'given' | 'ask'>): Row => ({ it, ...denied, ...row, afterwards: stays })
const may = (it: string, row: Pick<Row, 'given' | 'ask'> & Partial<Row>): Row => ({ it, status: 200, ...row })

wireTests('PutObject', [
  mayNot('another account does not replace what is the owner’s', {
    given: open(write()),
    ask: write({ ...byOther, body: 'else', headers: {} }),
  }),
  mayNot('nor does whoever does not sign', {
    given: open(write()),
    ask: write({ ...unsigned, body: 'else', headers: {} }),
  }),
  mayNot('nor where versions keep what is replaced', {
    given: async (wire) => {
      await enabled(wire)
      await open(write())(wire)
    },
    ask: write({ ...byOther, body: 'else', headers: {} }),
  }),
  mayNot('nor an account that has the right by name', {
    given: open(write(), opened({ 'grant-write': 'id=other' })),
    ask: write({ ...byOther, body: 'else', headers: {} }),
  }),
  may('an account replaces what is its own', { given: open(write(byOther)), ask: write(byOther) }),
  may('whoever does not sign replaces what nobody signed', { given: open(write(unsigned)), ask: write(unsigned) }),
  { it: 'an account does not', ...denied, given: open(write(unsigned)), ask: write(byOther) },
  may('the owner of the bucket replaces everything', { given: open(write(byOther)), ask: write() }),
  may('a policy lets others replace what is not theirs', {
    given: open(write(), {
      method: 'PUT',
      query: { policy: '' },
      body: JSON.stringify({
        Version: '2012-10-17',
        Statement: [{ Effect: 'Allow', Principal: '*', Action: 's3:PutObject', Resource: 'arn:aws:s3:::wire/*' }],
      }),
    }),
    ask: write(byOther),
  }),
])

wireTests('CopyObject', [
  mayNot('a copy by another account does not replace it either', {
    given: open(write(), write({ ...byOther, key: 'other' })),
    ask: { method: 'PUT', key, vendor: { 'copy-source': '/wire/other' }, ...byOther },
  }),
])

wireTests('PostObject', [
  mayNot('nor does a form that nobody signed', {
    given: open(write()),
    ask: { method: 'POST', form: { key, '{{prefix}}meta-a': 'b' }, body: 'else', ...unsigned },
  }),
])

wireTests('CreateMultipartUpload', [
  mayNot('nor does another account begin an upload to it', { given: open(write()), ask: { ...begin, ...byOther } }),
  may('it begins one where there is nothing', { given: open(), ask: { ...begin, ...byOther } }),
])

/** Another account begins an upload, and then the owner writes under its key. */
async function overtaken(wire: Wire): Promise<string> {
  await open()(wire)
  const uploadId = textIn(await wire.must({ ...begin, ...byOther }), 'UploadId')
  await wire.must(write())
  return uploadId
}

wireTests('UploadPart', [
  may('an upload that could begin goes on, whatever has been written under its key since', {
    given: async (wire) => ({ uploadId: await overtaken(wire) }),
    ask: { method: 'PUT', key, query: { partNumber: '1', uploadId: '{{uploadId}}' }, body: 'part', ...byOther },
  }),
])

wireTests('CompleteMultipartUpload', [
  may('and ends as it would have', {
    given: async (wire) => {
      const uploadId = await overtaken(wire)
      const etag = await putPart(wire, uploadId, 1, 'part', {}, key)
      return { uploadId, document: completeDocument([[1, etag]]) }
    },
    ask: { method: 'POST', key, query: { uploadId: '{{uploadId}}' }, body: '{{document}}', ...byOther },
  }),
])
