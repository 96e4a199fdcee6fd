/** Finds the admin operation for a method and a path. Pure. */
import { S3Error } from '../../errors.ts'
import { percentDecode } from '../../http/percent.ts'
import { IdentityRefused } from '../../identities/refusal.ts'
import type { AdminOperation, ParameterName, Parameters } from './operation.ts'

export interface Route {
  operation: AdminOperation
  parameters: Parameters
}

type Segment = { is: string } | { names: ParameterName }

interface CompiledPath {
  operation: AdminOperation
  segments: readonly Segment[]
}

const parameterNames: readonly ParameterName[] = ['account', 'bucket', 'user', 'policy', 'key', 'store']

/** Throws `IdentityRefused` for a path that no operation has, MethodNotAllowed, and InvalidURI for names that are not UTF-8. */
export type Router = (method: string, rawPath: string) => Route

/** Throws when two operations have the same method and path. */
export function compileRoutes(operations: readonly AdminOperation[]): Router {
  const paths = operations.map(compilePath)
  const kinds = operations.map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`)
  if (new Set(kinds).size < kinds.length) throw new Error('two operations of the admin port have one path')
  return (method, rawPath) => {
    const given = rawPath.split('/')
    const matching = paths.filter(({ segments }) => isMatch(segments, given))
    if (matching.length === 0) throw new IdentityRefused('NoSuchEntity', 'The admin port has nothing at this path.')
    const found = matching.find(({ operation }) => operation.method === method)
    if (found === undefined) {
      const allow = matching.map(({ operation }) => operation.method).join(', ')
      throw new S3Error('MethodNotAllowed', { headers: { Allow: allow } })
    }
    return { operation: found.operation, parameters: read(found.segments, given) }
  }
}

function compilePath(operation: AdminOperation): CompiledPath {
  const segments = operation.path.split('/').map((text): Segment => {
    if (!text.startsWith('{')) return { is: text }
    const name = parameterNames.find((known) => text === `{${known}}`)
    if (name === undefined) throw new Error(`${operation.name}: ${text} is no parameter`)
    return { names: name }
  })
  return { operation, segments }
}

function isMatch(segments: readonly Segment[], given: readonly string[]): boolean {
  return (
    segments.length === given.length &&
    segments.every((segment, i) => ('is' in segment ? segment.is === given[i] : given[i] !== ''))
  )
}

/** Reads the names in a path. The others are empty, and no handler sees them. */
function read(segments: readonly Segment[], given: readonly string[]): Parameters {
  const parameters: Record<ParameterName, string> = {
    account: '',
    bucket: '',
    user: '',
    policy: '',
    key: '',
    store: '',
  }
  for (const [i, segment] of segments.entries()) {
    if ('names' in segment) parameters[segment.names] = percentDecode(given[i] ?? '')
  }
  return parameters
}
