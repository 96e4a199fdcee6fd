/** An operation ready to serve: everything that its declaration compiles to, and how its answer is sent. */
import type { ByteSource } from '../byte-source.ts'
import type { Answer, Operation } from '../contract/operation.ts'
import type { OperationContext } from '../operations/context.ts'
import type { QueryParameter } from './address.ts'
import { sendBytes, sendStream } from './answer.ts'
import { type BodyDecoder, compileBody } from './bodies/decode-body.ts'
import { compileFields, type FieldDecoder, type Input } from './decode.ts'
import type { VendorValues } from './dialect.ts'
import { compileEncoders, type Encoders } from './encode.ts'
import type { Exchange } from './exchange.ts'
import type { RequestHead } from './request-head.ts'

export interface Endpoint {
  operation: Operation<OperationContext>
  fields: FieldDecoder
  body: BodyDecoder
  encoders: Encoders
}

export function compileEndpoint(operation: Operation<OperationContext>): Endpoint {
  return {
    operation,
    fields: compileFields(operation),
    body: compileBody(operation.inputBody),
    encoders: compileEncoders(operation),
  }
}

/** Decodes nothing for an operation that isn't implemented, because `run` refuses it by name. */
export function decodeFields(
  { operation, fields }: Endpoint,
  exchange: Exchange,
  head: RequestHead,
  { query, vendorValues }: { query: readonly QueryParameter[]; vendorValues: VendorValues },
): Input {
  return operation.implemented ? fields(head, query, vendorValues, exchange) : {}
}

/** Every parameter that has a meaning for at least one operation. */
export function parametersOf(operations: readonly Operation<OperationContext>[]): ReadonlySet<string> {
  const routing = operations.flatMap(({ query }) => query.map((text) => text.split('=')[0] ?? ''))
  const inputs = operations.flatMap(({ input }) => Object.values(input)).filter((field) => field.in === 'query')
  return new Set([...routing, ...inputs.map(({ name }) => name)])
}

/** Returns a promise only when sending takes time. */
export function send(
  exchange: Exchange,
  head: RequestHead,
  { operation, encoders }: Endpoint,
  answer: Answer,
): Promise<void> | void {
  const { headers, document } = encoders[exchange.dialect.name]
  const status = answer.status ?? operation.status
  if (operation.outputBody.kind === 'stream') {
    return sendStream(exchange, head, status, headers(answer), answer.body as ByteSource)
  }
  if (operation.outputBody.kind === 'json') {
    const json = ['Content-Type', 'application/json', ...headers(answer)]
    return sendBytes(exchange, head, status, json, Buffer.from(answer.body as string))
  }
  if (document === undefined || answer.body === undefined) {
    const all = headers(answer)
    if (operation.outputBody.kind === 'none' && operation.outputBody.contentType !== undefined)
      all.push('Content-Type', operation.outputBody.contentType)
    return sendBytes(exchange, head, status, all, undefined)
  }
  const bytes = document.document(answer.body)
  sendBytes(exchange, head, status, ['Content-Type', 'application/xml', ...headers(answer)], bytes)
}
