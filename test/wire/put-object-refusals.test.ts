/** PutObject with tags, access control lists, and headers that ask for what is not kept. */
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { md5Base64, md5Hex } from '../support/wire-checksums.ts'
import type { Reply, Wire } from '../support/wire-client.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'

const text = 'hello, wire'
const etag = `"${md5Hex(text)}"`
const put = { method: 'PUT', key: 'a', body: text } as const
const stored = { status: 200, headers: { ETag: etag, 'Content-Length': '0' } }
const input = { Bucket: 'wire', Key: 'a', Body: text }

const answersHead =
  (check: (reply: Reply, prefix: string) => void) =>
  async (wire: Wire): Promise<void> =>
    check(await wire.must({ method: 'HEAD', key: 'a' }), wire.style.prefix)
const isNotThere = async (wire: Wire): Promise<void> => {
  expect((await wire.ask({ method: 'HEAD', key: 'a' })).status).toBe(404)
}

const tagCount = (count: string | undefined) =>
  answersHead(({ headers }, prefix) => expect(headers.get(`${prefix}tagging-count`)).toBe(count))
const tagged = (tagging: string) => ({ ...put, vendor: { tagging } })

const tags: Row[] = [
  {
    it: 'stores tags',
    ...stored,
    ask: tagged('a=1&b%20c=d%2Be'),
    afterwards: tagCount('2'),
    sdk: sdk(PutObjectCommand, { ...input, Tagging: 'a=1&b=2' }),
  },
  {
    it: 'takes an empty pair of tags for none',
    ...stored,
    ask: tagged('a=1&'),
    afterwards: tagCount('1'),
    sdk: sdk(PutObjectCommand, { ...input, Tagging: 'a=1&' }),
  },
  {
    it: 'reads a plus in tags as a space, and no value as an empty one',
    ...stored,
    ask: tagged('a+b=c+d&e'),
    afterwards: async (wire) => {
      const { body } = await wire.must({ method: 'GET', key: 'a', query: { tagging: '' } })
      expect(body.toString()).toContain(
        '<Tag><Key>a b</Key><Value>c d</Value></Tag><Tag><Key>e</Key><Value></Value></Tag>',
      )
    },
  },
  { it: 'takes no tags for none', ...stored, ask: tagged(''), afterwards: tagCount(undefined) },
  {
    it: 'takes 10 tags',
    ...stored,
    ask: tagged(Array.from({ length: 10 }, (_, i) => `k${i}=v`).join('&')),
    afterwards: tagCount('10'),
  },
  {
    it: 'takes a key of 128 and a value of 256 characters',
    ...stored,
    ask: tagged(`${'k'.repeat(128)}=${'v'.repeat(256)}`),
    afterwards: tagCount('1'),
  },
  {
    it: 'refuses 11 tags',
    ...refusal('BadRequest', {}),
    message: 'Object tags cannot be greater than 10',
    ask: tagged(Array.from({ length: 11 }, (_, i) => `k${i}=v`).join('&')),
    afterwards: isNotThere,
  },
  {
    it: 'refuses a key of 129 characters',
    ...refusal('InvalidTag', { TagKey: 'k'.repeat(129) }),
    ask: tagged(`${'k'.repeat(129)}=v`),
    afterwards: isNotThere,
  },
  {
    it: 'refuses a value of 257 characters',
    ...refusal('InvalidTag', { TagKey: 'k', TagValue: 'v'.repeat(257) }),
    ask: tagged(`k=${'v'.repeat(257)}`),
    afterwards: isNotThere,
  },
  {
    it: 'refuses two tags of one key',
    ...refusal('InvalidArgument', { ArgumentName: '{{prefix}}tagging', ArgumentValue: 'k=1&k=2' }),
    message:
      "The header '{{prefix}}tagging' shall be encoded as UTF-8 then URLEncoded URL query parameters without tag name duplicates.",
    ask: tagged('k=1&k=2'),
    afterwards: isNotThere,
    sdk: sdk(PutObjectCommand, { ...input, Tagging: 'k=1&k=2' }),
  },
  { it: 'refuses an empty key', ...refusal('InvalidTag', { TagKey: '' }), ask: tagged('=v'), afterwards: isNotThere },
  {
    it: "refuses a key of the system's",
    ...refusal('InvalidTag', { TagKey: 'aws:k' }),
    message: 'Your TagKey cannot be prefixed with aws:',
    ask: tagged('aws:k=v'),
    afterwards: isNotThere,
  },
  {
    it: 'refuses tags that are not percent-encoded',
    ...refusal('InvalidArgument', { ArgumentName: '{{prefix}}tagging', ArgumentValue: 'k=%zz' }),
    ask: tagged('k=%zz'),
    afterwards: isNotThere,
  },
]

const lists: Row[] = [
  ...['private', 'bucket-owner-full-control'].map(
    (acl): Row => ({ it: `accepts acl ${acl}, which changes nothing`, ...stored, ask: { ...put, vendor: { acl } } }),
  ),
  {
    it: 'accepts acl private from the SDK',
    ...stored,
    ask: { ...put, vendor: { acl: 'private' } },
    sdk: sdk(PutObjectCommand, { ...input, ACL: 'private' }),
  },
  ...['public-read', 'authenticated-read', 'aws-exec-read', 'bucket-owner-read'].map(
    (acl): Row => ({
      it: `refuses acl ${acl}`,
      ...refusal('AccessControlListNotSupported', {}),
      ask: { ...put, vendor: { acl } },
      afterwards: isNotThere,
      sdk: sdk(PutObjectCommand, { ...input, ACL: acl as 'public-read' }),
    }),
  ),
  ...['full-control', 'read', 'read-acp', 'write-acp'].map(
    (grant): Row => ({
      it: `refuses grant-${grant}`,
      ...refusal('AccessControlListNotSupported', {}),
      ask: { ...put, vendor: { [`grant-${grant}`]: 'id=main' } },
      afterwards: isNotThere,
    }),
  ),
]

const refused: Row[] = [
  ...['write-offset-bytes', 'object-lock-made-up'].map(
    (name): Row => ({
      it: `refuses ${name} by name rather than ignoring it`,
      ...refusal('NotImplemented', { NotImplemented: `{{prefix}}${name}` }),
      ask: { ...put, vendor: { [name]: 'x' } },
      afterwards: isNotThere,
    }),
  ),
  {
    it: 'refuses encryption in two layers, also from the SDK',
    ...refusal('NotImplemented', { NotImplemented: '{{prefix}}server-side-encryption aws:kms:dsse' }),
    ask: { ...put, vendor: { 'server-side-encryption': 'aws:kms:dsse' } },
    afterwards: isNotThere,
    sdk: sdk(PutObjectCommand, { ...input, ServerSideEncryption: 'aws:kms:dsse' }),
  },
  {
    it: 'refuses a legal hold where there is no Object Lock',
    ...refusal('InvalidRequest'),
    ask: { ...put, headers: { 'Content-MD5': md5Base64(text) }, vendor: { 'object-lock-legal-hold': 'ON' } },
    sdk: sdk(PutObjectCommand, { ...input, ObjectLockLegalHoldStatus: 'ON' }),
  },
]

wireTests('PutObject', [...tags, ...lists, ...refused])
