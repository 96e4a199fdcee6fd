import { describe, expect, it } from 'vitest'
import { S3Error } from '../../src/errors.ts'
import { faultDocument } from '../../src/http/fault.ts'
import { limits } from '../../src/limits.ts'

const place = { resource: '/b', requestId: '1', hostId: '2' }
const answer = (detail: string): string =>
  faultDocument(new S3Error('InvalidArgument', { details: { ArgumentValue: detail } }), place).toString()

describe('an error', () => {
  it('repeats what a head can hold whole, though each of its bytes became an escape when it was signed', () => {
    const signed = '%22'.repeat(limits.headerSectionBytesMax)
    expect(answer(signed)).toContain(`<ArgumentValue>${signed}</ArgumentValue>`)
  })

  it('repeats no more than that of a document', () => {
    expect(answer('"'.repeat(4_000_000)).length).toBeLessThan(1_000_000)
  })
})
