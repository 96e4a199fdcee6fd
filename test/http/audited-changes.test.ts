/** Which operations of the S3 port are written down: those that change a bucket or an account, and none that reads or changes objects. */
import { expect, it } from 'vitest'
import { isConfiguring } from '../../src/http/telemetry/audited-changes.ts'
import { operations } from '../../src/operations/table.ts'

const isNamedAsChange = /^(?:Create|Put|Delete|Update|Tag|Untag)/
const isOfObjects = /Object(?!Lock)|^DeleteObjects|Upload/

it('are all that their names call a change of a bucket or of an account', () => {
  const implemented = operations.filter((operation) => operation.implemented)
  const expected = implemented.filter(({ name }) => isNamedAsChange.test(name) && !isOfObjects.test(name))
  expect(implemented.filter(isConfiguring).map(({ name }) => name)).toEqual(expected.map(({ name }) => name))
  expect(expected.map(({ name }) => name)).toEqual(expect.arrayContaining(['CreateBucket', 'TagResource']))
})
