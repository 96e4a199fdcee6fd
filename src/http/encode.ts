/** Compiles the declaration of an operation's answer to closures: output fields to headers, the body to its document. Sends nothing. */
import type { OutputField } from '../contract/fields.ts'
import type { Answer, Operation } from '../contract/operation.ts'
import { known } from '../known.ts'
import { amzDialect, type Dialect, headerNameIn, storeDialect } from './dialect.ts'
import { isHeaderName, sendableValue } from './header-text.ts'
import { compileXmlWriter, type XmlWriter } from './xml/xml-write.ts'

/** Appends the headers of one output field to names and values in turn. */
type HeaderPrinter = (headers: string[], value: unknown) => void

interface Encoder {
  /** Names and values in turn. */
  headers(answer: Answer): string[]
  /** The body's document, without XML declaration; `undefined` when the operation has none. */
  readonly document: XmlWriter | undefined
}

export type Encoders = Record<Dialect['name'], Encoder>

export function compileEncoders<Context>(operation: Operation<Context>): Encoders {
  return { 'x-store': compileEncoder(operation, storeDialect), 'x-amz': compileEncoder(operation, amzDialect) }
}

function compileEncoder<Context>(operation: Operation<Context>, dialect: Dialect): Encoder {
  const { output, outputBody } = operation
  // The stream's own size is sent, not the one that the handler computed.
  const sized = outputBody.kind === 'stream'
  const fields = Object.entries(output).filter(([, field]) => !(sized && field.name.toLowerCase() === 'content-length'))
  const printers = new Map(fields.map(([name, field]) => [name, compileHeader(field as OutputField<unknown>, dialect)]))
  // Node re-encodes a Content-Disposition that follows Content-Length, which changes its bytes or fails. So the length comes last.
  const length = fields.find(([, field]) => field.name.toLowerCase() === 'content-length')?.[0] ?? ''
  const printLength = printers.get(length)
  printers.delete(length)
  return {
    // Loops over the answer, because it has far fewer fields than its operation declares.
    headers: (answer) => {
      const headers: string[] = []
      for (const name in answer) {
        const value = answer[name]
        if (value !== undefined) printers.get(name)?.(headers, value)
      }
      if (printLength !== undefined && answer[length] !== undefined) printLength(headers, answer[length])
      return headers
    },
    document:
      outputBody.kind === 'xml'
        ? compileXmlWriter(
            outputBody.root,
            outputBody.shape,
            dialect === amzDialect ? 'with S3 namespace' : 'without namespace',
          )
        : undefined,
  }
}

function compileHeader(field: OutputField<unknown>, dialect: Dialect): HeaderPrinter {
  const { print } = field
  const name = field.in === 'header' ? field.name : headerNameIn(dialect, field.name)
  if (field.in !== 'vendor-prefix') return (headers, value) => void headers.push(name, sendableValue(print(value)))
  return (headers, record) => {
    const values = record as Record<string, string>
    for (const rest in values) {
      if (isHeaderName(rest)) headers.push(name + rest, sendableValue(known(values[rest])))
    }
  }
}
