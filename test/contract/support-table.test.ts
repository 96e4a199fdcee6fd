import { describe, expect, it } from 'vitest'
import { apiPage, supportSummary } from '../../src/contract/api-page.ts'
import {
  absentUnless,
  header,
  outVendor,
  query,
  refused,
  required,
  vendorPrefix,
  worksOnly,
} from '../../src/contract/fields.ts'
import { operationsIn } from '../../src/contract/operation.ts'
import { list, optional, refusedByHandler, string, struct } from '../../src/contract/shapes.ts'
import { supportTable } from '../../src/contract/support-table.ts'
import { text } from '../../src/contract/values.ts'
import { supportTable as libraryTable } from '../../src/index.ts'
import { operations } from '../../src/operations/table.ts'
import { algorithms } from '../support/wire-checksums.ts'

const putThing = operationsIn<undefined>()({
  name: 'PutThing',
  method: 'PUT',
  target: 'object',
  query: ['thing'],
  vendorHeaders: ['thing-source'],
  permission: 's3:PutThing',
  summary: 'Puts a thing.',
  input: {
    id: required(query('thing-id', text)),
    md5: header('Content-MD5', text),
    mode: worksOnly(header('Mode', text), 'slow|steady', 'InvalidArgument'),
    lock: refused('vendor', 'lock'),
    metadata: vendorPrefix('meta-'),
  },
  inputBody: {
    kind: 'xml',
    root: 'Thing',
    shape: struct({
      Name: string,
      Part: list(struct({ Id: string })),
      Old: refusedByHandler(struct({ Id: optional(string) })),
    }),
    required: true,
    digestRequired: false,
    bytesMax: 1024,
  },
  output: { version: outVendor('version-id'), expiry: absentUnless('expiry', 'things expire') },
  errors: ['NoSuchKey'],
  handle: async () => ({}),
})
const refusedThing = { ...putThing, name: 'LockThing', target: 'bucket', query: ['lock'], implemented: false } as const

describe('the support table', () => {
  it('has a row for each operation and for each of its parameters', () => {
    const [row] = supportTable([putThing])
    expect(row).toMatchObject({
      name: 'PutThing',
      here: 'works',
      method: 'PUT',
      target: 'object',
      query: ['thing'],
      vendorHeaders: ['thing-source'],
      requestBody: 'Thing',
      answerBody: '',
      status: 200,
    })
    const fixed = { required: false, container: false, here: 'works', since: '0.1.0' }
    const asked = { ...fixed, message: 'request' }
    const digests = algorithms.map((name) => name.toLowerCase())
    const refusal = { here: 'refused', refusal: 'NotImplemented' }
    expect(row?.parameters).toEqual([
      { ...asked, in: 'address', name: 'Bucket', required: true },
      { ...asked, in: 'address', name: 'Key', required: true },
      { ...asked, in: 'query', name: 'thing-id', required: true },
      { ...asked, in: 'header', name: 'Content-MD5' },
      { ...asked, in: 'header', name: 'Mode', only: 'slow|steady', refusal: 'InvalidArgument' },
      { ...asked, in: 'vendor', name: 'lock', ...refusal },
      { ...asked, in: 'vendor-prefix', name: 'meta-' },
      ...digests.map((name) => ({ ...asked, in: 'vendor', name: `checksum-${name}` })),
      { ...asked, in: 'vendor', name: 'sdk-checksum-algorithm' },
      { ...asked, in: 'element', name: 'Thing', required: true, container: true },
      { ...asked, in: 'element', name: 'Thing/Name', required: true },
      { ...asked, in: 'element', name: 'Thing/Part', container: true },
      { ...asked, in: 'element', name: 'Thing/Part/Id' },
      { ...asked, in: 'element', name: 'Thing/Old', container: true, ...refusal },
      { ...asked, in: 'element', name: 'Thing/Old/Id', ...refusal },
      { ...fixed, message: 'answer', in: 'vendor', name: 'version-id' },
      { ...fixed, message: 'answer', in: 'vendor', name: 'expiry', absentUnless: 'things expire' },
    ])
  })

  it('repeats the flag that the interface document gives a name in that operation', () => {
    const rows = supportTable(operations)
    const flagOf = (operation: string, name: string) =>
      rows.find((row) => row.name === operation)?.parameters.find((row) => row.name === name)?.documented
    expect(flagOf('PutBucketTagging', 'Content-MD5')).toBe('supported')
    expect(flagOf('PutObjectLegalHold', 'Content-MD5')).toBe('not-supported')
    expect(flagOf('UploadPart', 'Content-MD5')).toBe('not-supported')
    expect(flagOf('CreateBucket', 'CreateBucketConfiguration')).toBe('partially-supported')
    expect(flagOf('DeleteObjectTagging', 'versionId')).toBe('unflagged')
    expect(flagOf('CopyObject', 'copy-source')).toBeUndefined()
  })

  it('can be had from the library, as it goes through JSON', () => {
    const rows = libraryTable()
    expect(rows).toEqual(supportTable(operations))
    expect(JSON.parse(JSON.stringify(rows))).toEqual(rows)
  })

  it('says which operations are refused', () => {
    expect(supportTable([refusedThing])[0]).toMatchObject({
      here: 'refused',
      refusal: 'NotImplemented',
      parameters: [],
    })
  })

  it('becomes a page on which every parameter and refusal can be found', () => {
    const page = apiPage(supportTable([putThing, refusedThing]))
    const lines = page.split('\n')
    expect(lines).toContain('## Operations (1 work, 1 are refused by name)')
    expect(lines).toContain('`PUT /{Bucket}/{Key}?thing with *-thing-source`: Puts a thing.')
    expect(lines).toContain('Request body: XML `Thing`. Answer: 200. Errors: `NoSuchKey`.')
    expect(lines).toContain('| `thing-id` (required) | query | not named | works |')
    expect(lines).toContain('| `Mode` | header | not named | works for slow\\|steady; otherwise `InvalidArgument` |')
    expect(lines).toContain('| `*-lock` | header | not named | refused: `NotImplemented` |')
    expect(lines).toContain('| `*-expiry` | header | not named | absent unless things expire |')
    expect(lines).toContain('| `*-meta-<name>` | header | not named | works |')
    expect(lines).toContain('| LockThing | `PUT /{Bucket}?lock with *-thing-source` |')
    expect(lines).toContain('| `Thing/Part/Id` | XML | not named | works |')
  })

  it('has a summary that counts what works and what is refused', () => {
    const lines = supportSummary(supportTable([putThing, refusedThing])).split('\n')
    expect(lines).toContain('| buckets | 0 | 1 |')
    expect(lines).toContain('| objects | 1 | 0 |')
  })
})

it.each(operations.map(({ name, errors }) => [name, errors] as const))(
  '%s declares each of its errors once',
  (_, errors) => {
    expect([...errors]).toEqual([...new Set(errors)])
  },
)
