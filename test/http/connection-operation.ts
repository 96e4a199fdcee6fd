/** An operation that answers what an operation is told of the connection and the server. */
import { boolean, string, struct } from '../../src/contract/shapes.ts'
import { defineOperation } from '../../src/operations/context.ts'

export const connectionOperation = defineOperation({
  name: 'GetObject',
  method: 'GET',
  target: 'object',
  permission: 's3:GetObject',
  summary: '',
  input: {},
  output: {},
  outputBody: {
    kind: 'xml',
    root: 'Connection',
    shape: struct({ Url: string, Region: string, CustomerKeys: boolean }),
  },
  errors: [],
  handle: async ({ resourceUrl, region, customerKeysMayTravel }) => ({
    body: { Url: resourceUrl, Region: region, CustomerKeys: customerKeysMayTravel },
  }),
})
