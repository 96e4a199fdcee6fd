/** What a request adds to the access logs of buckets. Reasons: docs/adr/0071-access-logs-are-objects.md */
import { errorTable, S3Error } from '../../errors.ts'
import { type CopySource, parseCopySource } from '../../operations/objects/copy-source.ts'
import type { Exchange } from '../exchange.ts'
import type { Access, LoggedDeletion } from './access.ts'
import { accessLine, deletionLine, type RequestTimes } from './access-line.ts'
import { copySourceOperation, logOperation } from './access-operation.ts'

/** Takes the lines of the buckets that have an access log. */
export interface AccessLogs {
  /** Account id of the bucket's owner. `undefined`: as far as this process knows, the bucket has no log. */
  ownerOf(bucket: string): string | undefined
  /** `line`: without its end. */
  add(bucket: string, line: string): void
}

/** Adds the lines of a request that has ended: its own, that of a copy's source, and those of the objects that it deleted. */
export function logAccess(logs: AccessLogs, exchange: Exchange, timesOf: () => RequestTimes): void {
  const { access } = exchange
  if (access === undefined) return
  const owner = logs.ownerOf(access.bucket)
  if (owner !== undefined) {
    const times = timesOf()
    logs.add(access.bucket, accessLine(exchange, { ...access, words: wordsOf(exchange, access) }, owner, times))
    for (const deletion of deletionsOf(access)) {
      logs.add(access.bucket, deletionLine(exchange, access, owner, times, deletion))
    }
  }
  const source = sourceOf(access)
  const sourceOwner = source && logs.ownerOf(source.bucket)
  if (source !== undefined && sourceOwner !== undefined) {
    logs.add(source.bucket, accessLine(exchange, source, sourceOwner, timesOf()))
  }
}

function wordsOf({ request: { method = '', url = '' } }: Exchange, { words, operation, key }: Access): string {
  if (words !== undefined) return words
  const parameters = operation?.query ?? url.slice(url.indexOf('?') + 1 || url.length).split('&')
  const names = parameters.map((parameter) => parameter.split('=', 1)[0] ?? '')
  return logOperation(operation?.name ?? '', method, names, key !== '')
}

function sourceOf({ operation, request, input }: Access): (Access & { words: string }) | undefined {
  const words = copySourceOperation(operation?.name ?? '')
  const source = words === undefined ? undefined : copySource(input?.copySource)
  if (words === undefined || source === undefined) return undefined
  const { bucket, key, versionId } = source
  return { bucket, key, words, request, input: { versionId } }
}

function copySource(header: unknown): CopySource | undefined {
  if (typeof header !== 'string') return undefined
  try {
    return parseCopySource(header)
  } catch (error) {
    if (error instanceof S3Error) return undefined
    throw error
  }
}

/** What became of each object that a DeleteObjects named, if it was carried out. */
function deletionsOf({ operation, input, answer }: Access): LoggedDeletion[] {
  if (operation?.name !== 'DeleteObjects' || answer === undefined) return []
  const nameOf = ({ Key, VersionId }: NamedObject): string => JSON.stringify([Key, VersionId])
  const codes = new Map(objectsIn(answer.body, 'Error').map((failure) => [nameOf(failure), failure.Code ?? '']))
  return objectsIn(input?.body, 'Object').map((object) => {
    const code = codes.get(nameOf(object)) ?? ''
    const status = Object.entries(errorTable).find(([name]) => name === code)?.[1].status ?? 204
    return { key: object.Key, versionId: object.VersionId, code, status }
  })
}

interface NamedObject {
  Key: string
  VersionId?: string
  Code?: string
}

function objectsIn(document: unknown, list: string): NamedObject[] {
  const listed: unknown = Object(document)[list]
  return Array.isArray(listed) ? listed.filter(isNamedObject) : []
}

const isNamedObject = (element: unknown): element is NamedObject => typeof Object(element).Key === 'string'
