/** The admin port's operations on the server as a whole: its state, and the reason why it allows or denies a request. */
import { z } from 'zod'
import { isoTime } from '../time-text.ts'
import { defineAdminOperation } from './requests/operation.ts'
import { name, noInput } from './views.ts'

const getServerInfo = defineAdminOperation({
  name: 'GetServerInfo',
  summary: 'Shows the server: version, region, workers, and since when it runs.',
  method: 'GET',
  path: '/v1/server',
  permission: 'admin:ServerInfo',
  status: 200,
  input: noInput,
  output: z.object({
    version: z.string(),
    region: z.string(),
    workers: z.number(),
    started: z.string(),
    endpoint: z.string(),
  }),
  handle: async (context) => {
    const { startedMs, ...info } = context.info()
    return { ...info, started: isoTime(startedMs) }
  },
})

const explainAccess = defineAdminOperation({
  name: 'ExplainAccess',
  summary: 'Says whether a key may do something, and which statement decides it. Nothing is done.',
  method: 'POST',
  path: '/v1/access/explain',
  permission: 'admin:ExplainAccess',
  readOnly: true,
  status: 200,
  input: z.strictObject({
    /** Absent: a sender without a signature. */
    accessKeyId: name.optional(),
    action: name,
    /** `arn:aws:s3:::bucket/key`, `bucket/key`, `bucket` or `*`. */
    resource: z.string().min(1).max(2048),
    sourceIp: z.union([z.ipv4(), z.ipv6()]).optional(),
    secureTransport: z.boolean().optional(),
    /** Values of other condition keys. */
    conditions: z.record(z.string().max(256), z.string().max(4096)).optional(),
  }),
  output: z.object({ allowed: z.boolean(), reason: z.string() }),
  handle: ({ explain }, _, { accessKeyId, ...question }) => explain({ accessKeyId }, question),
})

export const serverOperations = [getServerInfo, explainAccess]
