/** An operation of the admin port: a declaration, from which its route, permission, checks and documentation follow, and a handler. */
import type { z } from 'zod'
import type { AdminAction } from '../access/admin-actions.ts'
import type { Principal } from '../auth/principal.ts'
import { S3Error } from '../errors.ts'
import type { Identities } from '../identities/identities.ts'
import type { AccessQuestion, ExplainedDecision } from './explanation.ts'

/** The services that handlers use. */
export interface AdminServices {
  identities: Identities
  /** The server's state, for `GetServerInfo`. */
  info(): ServerInfo
  explain(question: AccessQuestion): Promise<ExplainedDecision>
}

export interface ServerInfo {
  version: string
  region: string
  workers: number
  /** When this process started, in milliseconds since the epoch. */
  startedMs: number
  endpoint: string
}

export interface AdminContext extends AdminServices {
  principal: Principal
  /** Checks a further permission that the handler finds the request to need. Throws AccessDenied. */
  require(permission: AdminAction): void
}

/** A name in braces in a path. */
export type ParameterName = 'account' | 'user' | 'policy' | 'key'

export type Parameters<N extends ParameterName = ParameterName> = Readonly<Record<N, string>>

type NamesIn<P extends string> = P extends `${string}{${infer N}}${infer Rest}` ? N | NamesIn<Rest> : never

interface Declared {
  name: string
  summary: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  permission: AdminAction
  /** A path that names an account makes the operation about that account. Otherwise it is about the server, which belongs to the main account. */
  path: `/v1/${string}`
  /** The operation is about the server although its path names an account, because accounts don't decide which accounts exist. */
  ofServer?: true
  /** The operation changes nothing, although its method is not GET. */
  readOnly?: true
  /** The status of a success. */
  status: 200 | 201 | 204
}

/** An operation as the port runs it. */
export interface AdminOperation extends Declared {
  /** The schema of the body, or of the query when the method is GET. */
  input: z.ZodObject
  /** Absent: the answer has no body. */
  output: z.ZodType | undefined
  /** Checks the input, and returns a function that runs the operation with it. Throws InvalidArgument. */
  prepare(given: unknown): PreparedRun
}

/** Resolves with only the fields that the output's schema names. */
export type PreparedRun = (context: AdminContext, parameters: Parameters) => Promise<unknown>

interface Declaration<P extends string, I extends z.ZodObject, O extends z.ZodType | undefined> extends Declared {
  path: P & `/v1/${string}`
  input: I
  output: O
  handle(
    context: AdminContext,
    parameters: Parameters<NamesIn<P> & ParameterName>,
    input: z.output<I>,
  ): Promise<O extends z.ZodType ? z.input<O> : void>
}

export function defineAdminOperation<
  const P extends string,
  I extends z.ZodObject,
  O extends z.ZodType | undefined = undefined,
>({ handle, ...declared }: Declaration<P, I, O>): AdminOperation {
  return {
    ...declared,
    prepare: (given) => {
      const input = checked(declared.input, given)
      return async (context, parameters) => {
        const result = await handle(context, parameters, input)
        return declared.output?.parse(result)
      }
    },
  }
}

/** How much of a client's path a message repeats. */
const pathCharsMax = 256

function checked<I extends z.ZodObject>(schema: I, given: unknown): z.output<I> {
  const { success, data, error } = schema.safeParse(given)
  if (success) return data
  const [issue] = error.issues
  const path = issue?.path.join('.') ?? ''
  const message = `${path === '' ? 'the input' : path}: ${issue?.message ?? 'is not valid'}`
  throw new S3Error('InvalidArgument', { message: message.slice(0, pathCharsMax) })
}
