/** The S3 interface document as data: the flag of every name that it lists for an operation. Pure. */
import { bucketOperations } from './interface-document/buckets.ts'
import { multipartOperations } from './interface-document/multipart.ts'
import type { DocumentedFlag, DocumentedOperations, DocumentedPlace, Message } from './interface-document/named.ts'
import { objectOperations } from './interface-document/objects.ts'

export type { DocumentedFlag, Message }

export interface DocumentedName {
  operation: string
  message: Message
  in: DocumentedPlace
  name: string
  flag: DocumentedFlag
}

const operations: DocumentedOperations = { ...bucketOperations, ...objectOperations, ...multipartOperations }

/** Every name of the document, once for each operation and message that has it. */
export const documentedNames: readonly DocumentedName[] = Object.entries(operations).flatMap(([operation, messages]) =>
  entries(messages).flatMap(([message, flags]) =>
    entries(flags).flatMap(([flag, places]) =>
      entries(places).flatMap(([place, names]) => names.map((name) => ({ operation, message, in: place, name, flag }))),
    ),
  ),
)

const flags = new Map(documentedNames.map((row) => [identity(row.operation, row.message, row), row.flag]))

/** The flag of a parameter in the request or the answer of an operation; `undefined` when the document does not name it there. */
export function documentedFlag(
  operation: string,
  message: Message,
  field: { in: string; name: string },
): DocumentedFlag | undefined {
  return flags.get(identity(operation, message, field))
}

/** Case does not matter in the names of headers. */
function identity(operation: string, message: Message, { in: place, name }: { in: string; name: string }): string {
  const isHeader = place === 'header' || place === 'vendor'
  return `${operation} ${message} ${place} ${isHeader ? name.toLowerCase() : name}`
}

function entries<K extends string, V>(record: Partial<Record<K, V>>): [K, V][] {
  return Object.entries(record) as [K, V][]
}
