/** DeleteObject and DeleteObjects under conditions of size and time, which S3 has on directory buckets. */
import { DeleteObjectCommand, DeleteObjectsCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { md5Base64, md5Hex } from '../support/wire-checksums.ts'
import type { Wire } from '../support/wire-client.ts'
import { type Facts, type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { enabled } from '../support/wire-versions.ts'

const text = 'four'
const etag = `"${md5Hex(text)}"`
const past = 'Sat, 01 Jan 2000 00:00:00 GMT'
const time = 'if-match-last-modified-time'
const size = 'if-match-size'

/** Facts: `lastModified` of the object. */
async function stored(wire: Wire): Promise<Facts> {
  await wire.must({ method: 'PUT', key: 'a', body: text })
  const { headers } = await wire.must({ method: 'HEAD', key: 'a' })
  return { lastModified: headers.get('last-modified') ?? '' }
}
const storedVersioned = async (wire: Wire): Promise<Facts> => {
  await enabled(wire)
  return stored(wire)
}
const answers = (status: number) => async (wire: Wire) => {
  expect((await wire.ask({ method: 'HEAD', key: 'a' })).status).toBe(status)
}
const isGone = answers(404)
const isThere = answers(200)

type Conditions = Record<string, string>

const ask = (conditions: Conditions, headers: Record<string, string> = {}) =>
  ({ method: 'DELETE', key: 'a', vendor: conditions, headers }) as const

const holds: [what: string, conditions: Conditions, headers?: Record<string, string>][] = [
  ['the size', { [size]: '4' }],
  ['the time', { [time]: '{{lastModified}}' }],
  ['size, time and entity tag', { [size]: '4', [time]: '{{lastModified}}' }, { 'If-Match': etag }],
]
const fails: [what: string, failed: string, conditions: Conditions, headers?: Record<string, string>][] = [
  ['another size', size, { [size]: '5' }],
  ['no size', size, { [size]: '0' }],
  ['an earlier time', time, { [time]: past }],
  ['a later time', time, { [time]: 'Fri, 01 Jan 2100 00:00:00 GMT' }],
  ['the size and another time', time, { [size]: '4', [time]: past }],
  ['the size and another entity tag', 'If-Match', { [size]: '4' }, { 'If-Match': '"another"' }],
]

const single: Row[] = [
  ...[stored, storedVersioned].flatMap((given) => {
    const where = given === stored ? '' : ' in a versioned bucket'
    return [
      ...holds.map(
        ([what, conditions, headers]): Row => ({
          it: `removes the object that has ${what}${where}`,
          proves: Object.keys(conditions).map((name) => `vendor:${name}`),
          status: 204,
          given,
          ...(given === stored ? {} : { vendor: { 'delete-marker': 'true', 'version-id': expect.any(String) } }),
          ask: ask(conditions, headers),
          afterwards: isGone,
        }),
      ),
      ...fails.map(
        ([what, failed, conditions, headers]): Row => ({
          it: `keeps the object for ${what}${where}`,
          proves: [failed === 'If-Match' ? 'header:If-Match' : `vendor:${failed}`],
          ...refusal('PreconditionFailed', { Condition: failed === 'If-Match' ? failed : `{{prefix}}${failed}` }),
          given,
          ask: ask(conditions, headers),
          afterwards: isThere,
        }),
      ),
    ]
  }),
  {
    it: 'succeeds where there is nothing, as S3 documents',
    status: 204,
    ask: ask({ [size]: '4', [time]: past }),
    sdk: sdk(DeleteObjectCommand, {
      Bucket: 'wire',
      Key: 'a',
      IfMatchSize: 4,
      IfMatchLastModifiedTime: new Date(past),
    }),
  },
  {
    it: 'is understood by the SDK',
    ...refusal('PreconditionFailed', { Condition: `{{prefix}}${size}` }),
    given: stored,
    ask: ask({ [size]: '5' }),
    afterwards: isThere,
    sdk: sdk(DeleteObjectCommand, { Bucket: 'wire', Key: 'a', IfMatchSize: 5 }),
  },
  ...(
    [
      [size, '-1'],
      [size, '4.0'],
      [size, 'x'],
      [time, 'yesterday'],
      [time, '2000-01-01T00:00:00Z'],
      [time, 'Tue, 31 Feb 2026 00:00:00 GMT'],
      [time, 'Sun, 01 Jan 2000 00:00:00 GMT'],
      [time, ''],
    ] as const
  ).map(
    ([name, value]): Row => ({
      it: `refuses ${name}: ${value}, and keeps the object`,
      ...refusal('InvalidArgument', { ArgumentName: `{{prefix}}${name}`, ArgumentValue: value }),
      given: stored,
      ask: ask({ [name]: value }),
      afterwards: isThere,
    }),
  ),
]

const askMany = (elements: string) => {
  const body = `<Delete><Object><Key>a</Key>${elements}</Object></Delete>`
  return { method: 'POST', query: { delete: '' }, body, headers: { 'Content-MD5': md5Base64(body) } } as const
}
const failed = { Key: 'a', Code: 'PreconditionFailed', Message: expect.any(String) }

const many: Row[] = [
  ...(
    [
      ['another size', '<Size>5</Size>', isThere],
      ['an earlier time', `<LastModifiedTime>${past}</LastModifiedTime>`, isThere],
      ['the size', '<Size>4</Size>', isGone],
      ['the time', '<LastModifiedTime>{{lastModified}}</LastModifiedTime>', isGone],
      ['size and entity tag', `<Size>4</Size><ETag>${etag}</ETag>`, isGone],
    ] as const
  ).map(
    ([what, elements, afterwards]): Row => ({
      it: `decides an entry by ${what}`,
      proves: [...elements.matchAll(/<(\w+)>/g)].map(([, name]) => `element:Delete/Object/${name}`),
      status: 200,
      given: async (wire) => {
        const facts = await stored(wire)
        const { body } = askMany(elements.replace('{{lastModified}}', facts.lastModified ?? ''))
        return { ...facts, digest: md5Base64(body) }
      },
      ask: { ...askMany(elements), headers: { 'Content-MD5': '{{digest}}' } },
      xml: { DeleteResult: afterwards === isThere ? { Error: failed } : { Deleted: { Key: 'a' } } },
      afterwards,
    }),
  ),
  {
    it: 'is understood by the SDK',
    status: 200,
    given: stored,
    ask: askMany('<Size>5</Size>'),
    xml: { DeleteResult: { Error: failed } },
    sdk: sdk(
      DeleteObjectsCommand,
      { Bucket: 'wire', Delete: { Objects: [{ Key: 'a', Size: 5 }] } },
      { Errors: [{ Key: 'a', Code: 'PreconditionFailed' }] },
    ),
  },
  ...(
    [
      ['Size', 'four'],
      ['LastModifiedTime', 'yesterday'],
    ] as const
  ).map(
    ([element, value]): Row => ({
      it: `refuses a document whose ${element} is ${value}`,
      ...refusal('MalformedXML', { Element: element }),
      given: stored,
      ask: askMany(`<${element}>${value}</${element}>`),
      afterwards: isThere,
    }),
  ),
]

wireTests('DeleteObject', single)
wireTests('DeleteObjects', many)
