import { describe, expect, it } from 'vitest'
import { codesOf, codesOfAnyRequest, errorCauses } from '../../src/contract/error-causes.ts'
import { errorsPage } from '../../src/contract/errors-page.ts'
import { errorTable } from '../../src/errors.ts'
import { operations } from '../../src/operations/table.ts'

const named = (name: string) => {
  const found = operations.find((operation) => operation.name === name)
  if (found === undefined) throw new Error(`no operation ${name}`)
  return found
}

describe('the errors that can be answered', () => {
  it('has every error of the table answered by an operation, or by any request', () => {
    const answered = new Set([...codesOfAnyRequest, ...operations.flatMap((operation) => [...codesOf(operation)])])
    expect(Object.keys(errorTable).filter((code) => !answered.has(code as keyof typeof errorTable))).toEqual([])
  })

  it('has each code under one cause', () => {
    const codes = errorCauses.flatMap((cause) => cause.codes)
    expect(codes.filter((code, at) => codes.indexOf(code) !== at)).toEqual([])
  })

  it('asks of a document what no request without one is asked', () => {
    expect(codesOf(named('PutBucketTagging'))).toContain('MalformedXML')
    expect(codesOf(named('PutObject'))).not.toContain('MalformedXML')
    expect(codesOf(named('PutObject'))).toContain('MissingContentLength')
    expect(codesOf(named('GetObject'))).not.toContain('MissingContentLength')
  })
})

describe('the page of errors', () => {
  const lines = errorsPage(operations).split('\n')
  const row = (code: string): string | undefined => lines.find((line) => line.startsWith(`| \`${code}\``))

  it('has a row for every error, with its status, its message and who answers it', () => {
    for (const [code, { status, message }] of Object.entries(errorTable)) {
      expect(row(code)).toContain(`| ${status} |`)
      expect(row(code)).toContain(`| ${message.replaceAll('|', '\\|')} |`)
      expect(row(code)).not.toContain('|  |')
    }
  })

  it('names operations only where their request alone is no cause', () => {
    expect(row('BucketNotEmpty')).toContain('| DeleteBucket |')
    expect(row('SlowDown')).toContain('| any request |')
  })
})
