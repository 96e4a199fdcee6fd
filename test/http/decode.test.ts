import { expect, it } from 'vitest'
import { header } from '../../src/contract/fields.ts'
import { compileFields } from '../../src/http/decode.ts'
import { storeDialect } from '../../src/http/dialect.ts'
import { defineOperation } from '../../src/operations/context.ts'

it('a list in thousands of lines is put together once', () => {
  const parsed: string[] = []
  const read = compileFields(
    defineOperation({
      name: 'Read',
      method: 'GET',
      target: 'object',
      permission: 's3:GetObject',
      summary: '',
      input: {
        ifMatch: header('If-Match', (raw) => {
          parsed.push(raw)
          return raw
        }),
      },
      output: {},
      errors: [],
      handle: async () => ({}),
    }),
  )
  const tags = Array.from({ length: 3000 }, (_, i) => `"${i}"`)
  const head = {
    method: 'GET',
    rawPath: '/b/k',
    rawQuery: '',
    host: '',
    rawHeaders: tags.flatMap((tag) => ['If-Match', tag]),
    names: tags.map(() => 'if-match'),
    contentLength: undefined,
    requestId: undefined,
    traceParent: undefined,
    chunked: false,
    dialect: storeDialect,
  }
  const input = read(head, [], new Map(), { ignoredHeaders: undefined })
  expect(input.ifMatch).toBe(tags.join(', '))
  expect(parsed).toHaveLength(2)
})
