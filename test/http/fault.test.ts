import { describe, expect, it } from 'vitest'
import { invalidVendorArgument, ProcessEnding, S3Error } from '../../src/errors.ts'
import { amzDialect, storeDialect } from '../../src/http/dialect.ts'
import { faultDocument, faultHeaders, faultOf } from '../../src/http/fault.ts'
import { limits } from '../../src/limits.ts'

const place = { resource: '/b', requestId: '1', hostId: '2', dialect: amzDialect }
const answer = (detail: string): string =>
  faultDocument(new S3Error('InvalidArgument', { details: { ArgumentValue: detail } }), place).toString()

describe('an error', () => {
  it('repeats what a head can hold whole, though each of its bytes became an escape when it was signed', () => {
    const signed = '%22'.repeat(limits.headerSectionBytesMax)
    expect(answer(signed)).toContain(`<ArgumentValue>${signed}</ArgumentValue>`)
  })

  it('of a process that ends asks the client to try again, and says nothing of what happened', () => {
    const fault = faultOf(new ProcessEnding('the process that commits has ended'))
    expect(fault.status).toBe(503)
    expect(faultHeaders(fault)).toContain('Retry-After')
    expect(faultDocument(fault, place).toString()).not.toContain('commits')
  })

  it('names a vendor header as the client knows it', () => {
    const error = invalidVendorArgument('copy-source', 'x', 'No.')
    expect(faultDocument(error, place).toString()).toContain('<ArgumentName>x-amz-copy-source</ArgumentName>')
    const inStore = faultDocument(error, { ...place, dialect: storeDialect }).toString()
    expect(inStore).toContain('<ArgumentName>x-store-copy-source</ArgumentName>')
  })

  it('leaves quotes in its message as they are, as S3 does, and no markup', () => {
    const error = new S3Error('AccessDenied', { message: 'failed: ["eq", "$key", "<a>&quot;"]' })
    const text = '<Message>failed: ["eq", "$key", "&lt;a&gt;&amp;quot;"]</Message>'
    expect(faultDocument(error, place).toString()).toContain(text)
  })

  it('repeats no more than that of a document', () => {
    expect(answer('"'.repeat(4_000_000)).length).toBeLessThan(1_000_000)
  })
})
