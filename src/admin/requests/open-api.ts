/** The admin port's interface as an OpenAPI 3.1 document, made from the operations' declarations. */
import { z } from 'zod'
import type { Exchange } from '../../http/exchange.ts'
import type { RequestHead } from '../../http/request-head.ts'
import { version } from '../../version.ts'
import { sendJson } from './answer.ts'
import type { AdminOperation } from './operation.ts'

type Json = Readonly<Record<string, unknown>>

/** Answers `GET /openapi.json`, which is open to everybody. False: this is another request. */
export function answerInterface(exchange: Exchange, head: RequestHead, operations: readonly AdminOperation[]): boolean {
  if (head.rawPath !== '/openapi.json' || (head.method !== 'GET' && head.method !== 'HEAD')) return false
  exchange.operationName = 'GetInterface'
  sendJson(exchange, head, 200, openApi(operations))
  return true
}

let made: { of: readonly AdminOperation[]; document: Json } | undefined

function openApi(operations: readonly AdminOperation[]): Json {
  if (made?.of !== operations) made = { of: operations, document: documentOf(operations) }
  return made.document
}

function documentOf(operations: readonly AdminOperation[]): Json {
  const paths: Record<string, Record<string, Json>> = {}
  for (const operation of operations) {
    paths[operation.path] = { ...paths[operation.path], [operation.method.toLowerCase()]: pathItem(operation) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Holdfast admin port',
      version,
      description:
        'See docs/admin.md. Requests are signed as for S3 (SigV4, service s3), or come from a browser session.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: { Error: errorSchema },
      securitySchemes: {
        signature: { type: 'apiKey', in: 'header', name: 'Authorization', description: 'AWS4-HMAC-SHA256' },
        session: { type: 'apiKey', in: 'cookie', name: 'holdfast-session', description: '__Host- before it over TLS' },
        csrfToken: { type: 'apiKey', in: 'header', name: 'X-CSRF-Token' },
      },
    },
  }
}

const errorSchema = {
  type: 'object',
  properties: { code: { type: 'string' }, message: { type: 'string' }, requestId: { type: 'string' } },
  required: ['code', 'message', 'requestId'],
}

function pathItem(operation: AdminOperation): Json {
  const { name, summary, permission, method } = operation
  const isUnsafe = method !== 'GET'
  const security =
    permission === 'anyone' ? [] : [{ signature: [] }, { session: [], ...(isUnsafe ? { csrfToken: [] } : {}) }]
  return {
    operationId: name,
    summary,
    security,
    ...(permission === 'anyone' || permission === 'sender' ? {} : { 'x-permission': permission }),
    parameters: [...pathParameters(operation), ...(isUnsafe ? [] : queryParameters(operation))],
    ...(isUnsafe && Object.keys(operation.input.shape).length > 0 ? { requestBody: bodyOf(operation) } : {}),
    responses: { [operation.status]: success(operation), default: failure },
  }
}

const pathParameters = ({ path }: AdminOperation): Json[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: { type: 'string' } }))

const queryParameters = ({ input }: AdminOperation): Json[] =>
  Object.entries(input.shape).map(([name, field]) => ({
    name,
    in: 'query',
    required: !isOptional(field),
    schema: schemaOf(field, 'input'),
  }))

const isOptional = (field: z.core.$ZodType): boolean => z.safeParse(field, undefined).success

const bodyOf = ({ input }: AdminOperation): Json => ({
  required: Object.values(input.shape).some((field) => !isOptional(field)),
  content: { 'application/json': { schema: schemaOf(input, 'input') } },
})

function success({ output, isStream }: AdminOperation): Json {
  if (output === undefined) return { description: 'Done.' }
  const type = isStream ? 'text/event-stream' : 'application/json'
  const description = isStream ? 'Events, each of which holds this as JSON in its data.' : 'Done.'
  return { description, content: { [type]: { schema: schemaOf(output, 'output') } } }
}

const failure = {
  description: 'An error.',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
}

function schemaOf(schema: z.core.$ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any', override: simplify })
  return rest
}

/** Leaves out the patterns behind formats, because they are long and say no more than the format. */
function simplify({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern
}
