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
import { string, struct } from '../../src/contract/shapes.ts'
import { supportTable } from '../../src/contract/support-table.ts'
import { text } from '../../src/contract/values.ts'

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
    mode: worksOnly(header('Mode', text), 'slow|steady'),
    lock: refused('vendor', 'lock'),
    metadata: vendorPrefix('meta-'),
  },
  inputBody: {
    kind: 'xml',
    root: 'Thing',
    shape: struct({ Name: string }),
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
    expect(row?.parameters).toEqual([
      { message: 'request', in: 'query', name: 'thing-id', required: true, documented: undefined, here: 'works' },
      { message: 'request', in: 'header', name: 'Content-MD5', required: false, documented: undefined, here: 'works' },
      {
        message: 'request',
        in: 'header',
        name: 'Mode',
        required: false,
        documented: undefined,
        here: 'works',
        only: 'slow|steady',
      },
      { message: 'request', in: 'vendor', name: 'lock', required: false, documented: undefined, here: 'refused' },
      { message: 'request', in: 'vendor-prefix', name: 'meta-', required: false, documented: undefined, here: 'works' },
      { message: 'answer', in: 'vendor', name: 'version-id', required: false, documented: undefined, here: 'works' },
      {
        message: 'answer',
        in: 'vendor',
        name: 'expiry',
        required: false,
        documented: undefined,
        here: 'works',
        absentUnless: 'things expire',
      },
    ])
  })

  it('says which operations are refused', () => {
    expect(supportTable([refusedThing])[0]?.here).toBe('refused')
  })

  it('becomes a page on which every parameter, refusal and error can be found', () => {
    const page = apiPage(supportTable([putThing, refusedThing]), [['NoSuchKey', { status: 404, message: 'No key.' }]])
    const lines = page.split('\n')
    expect(lines).toContain('## Operations (1 work, 1 are refused by name)')
    expect(lines).toContain('`PUT /{Bucket}/{Key}?thing with *-thing-source`: Puts a thing.')
    expect(lines).toContain('Request body: XML `Thing`. Answer: 200. Errors: `NoSuchKey`.')
    expect(lines).toContain('| `thing-id` (required) | query | not named | works |')
    expect(lines).toContain('| `Mode` | header | not named | works for slow\\|steady |')
    expect(lines).toContain('| `*-expiry` | header | not named | absent unless things expire |')
    expect(lines).toContain('| `*-lock` | header | not named | refused |')
    expect(lines).toContain('| `*-meta-<name>` | header | not named | works |')
    expect(lines).toContain('| LockThing | `PUT /{Bucket}?lock with *-thing-source` |')
    expect(lines).toContain('| `NoSuchKey` | 404 | No key. |')
  })

  it('has a summary that names what works and counts the rest', () => {
    const lines = supportSummary(supportTable([putThing, refusedThing])).split('\n')
    expect(lines).toContain('| Buckets |  | 1 |')
    expect(lines).toContain('| Objects | PutThing | 0 |')
  })
})
