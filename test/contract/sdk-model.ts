/** Every operation and parameter of the installed AWS SDK for S3, read off its schemas, in the words of the support table. */
import * as sdk from '@aws-sdk/client-s3'
import { NormalizedSchema } from '@smithy/core/schema'

/** One name in a request or an answer: `vendor checksum-crc32`, `element Delete/Object/Key`. */
export interface ModelOperation {
  name: string
  method: string
  query: readonly string[]
  request: readonly string[]
  answer: readonly string[]
}

/** What the SDK's client can be told to do. */
export const commandNames: readonly string[] = Object.keys(sdk)
  .filter((name) => /^[A-Z].*[^$]Command$/.test(name))
  .map((name) => name.replace(/Command$/, ''))

/** In a static operation schema: its kind, namespace, name, traits, input and output. */
const operationKind = 9

type Schema = Parameters<typeof NormalizedSchema.of>[0]
type OperationSchema = [number, string, string, { http?: [string, string, number] }, () => Schema, () => Schema]

const exported: readonly unknown[] = Object.values(sdk)
export const modelOperations: readonly ModelOperation[] = exported.filter(isOperation).map(modelOf)

function isOperation(found: unknown): found is OperationSchema {
  return Array.isArray(found) && found[0] === operationKind
}

function modelOf([, , name, { http }, input, output]: OperationSchema): ModelOperation {
  if (http === undefined) throw new Error(`the SDK says no path of ${name}`)
  const [method, uri] = http
  const [, query = ''] = uri.split('?')
  return {
    name,
    method,
    // `x-id` is the SDK's own.
    query: query.split('&').filter((part) => part !== '' && !part.startsWith('x-id=')),
    request: namesOf(NormalizedSchema.of(input())),
    answer: namesOf(NormalizedSchema.of(output())),
  }
}

/** Bound to headers, query and path; what is bound to nothing is an element of the document. */
function namesOf(message: NormalizedSchema): string[] {
  if (!message.isStructSchema()) return []
  const members = Object.entries(message.getMemberSchemas())
  const bound = members.flatMap(([name, member]) => boundName(name, member))
  const unbound = members.filter(([, member]) => !isBound(member))
  const root = String(message.getMergedTraits().xmlName ?? message.getName())
  const inBody = unbound.flatMap(([name, member]) => elementsOf(root, name, member))
  return [...bound, ...(unbound.length === 0 ? [] : [`element ${root}`]), ...inBody]
}

function isBound(member: NormalizedSchema): boolean {
  const { httpHeader, httpQuery, httpPrefixHeaders, httpLabel, httpPayload } = member.getMergedTraits()
  return [httpHeader, httpQuery, httpPrefixHeaders, httpLabel, httpPayload].some((trait) => trait !== undefined)
}

function boundName(name: string, member: NormalizedSchema): string[] {
  const { httpHeader, httpQuery, httpPrefixHeaders, httpLabel, httpPayload } = member.getMergedTraits()
  if (httpHeader !== undefined) return [headerName(String(httpHeader))]
  if (httpQuery !== undefined) return [`query ${httpQuery}`]
  if (httpPrefixHeaders !== undefined) return [`vendor-prefix ${String(httpPrefixHeaders).replace(/^x-amz-/, '')}`]
  if (httpLabel !== undefined) return [`address ${name}`]
  if (httpPayload === undefined) return []
  if (!(member.isStructSchema() || member.isUnionSchema())) return ['data body']
  const root = String(member.getMergedTraits().xmlName ?? member.getName())
  return [`element ${root}`, ...childrenOf(root, member, [])]
}

function headerName(header: string): string {
  const lower = header.toLowerCase()
  return lower.startsWith('x-amz-') ? `vendor ${lower.slice('x-amz-'.length)}` : `header ${lower}`
}

function elementsOf(parent: string, name: string, member: NormalizedSchema, above: readonly string[] = []): string[] {
  const { xmlName, xmlFlattened, xmlAttribute } = member.getMergedTraits()
  const path = `${parent}/${xmlAttribute === undefined ? '' : '@'}${String(xmlName ?? name)}`
  if (!member.isListSchema()) return [`element ${path}`, ...childrenOf(path, member, above)]
  const item = member.getValueSchema()
  if (xmlFlattened !== undefined) return [`element ${path}`, ...childrenOf(path, item, above)]
  const itemPath = `${path}/${String(item.getMergedTraits().xmlName ?? 'member')}`
  return [`element ${path}`, `element ${itemPath}`, ...childrenOf(itemPath, item, above)]
}

/** `above`: the structures that this one lies in. One that holds itself ends there. */
function childrenOf(path: string, schema: NormalizedSchema, above: readonly string[]): string[] {
  if (!schema.isStructSchema() && !schema.isUnionSchema()) return []
  const self = schema.getName() ?? ''
  if (above.includes(self)) return []
  return Object.entries(schema.getMemberSchemas()).flatMap(([name, member]) =>
    elementsOf(path, name, member, [...above, self]),
  )
}
