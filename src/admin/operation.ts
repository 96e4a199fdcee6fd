/** What an operation of the admin port is made of: a declaration, which routes, permits, checks and documents it, and its handler. */
import type { z } from 'zod'
import type { AdminAction } from '../access/admin-actions.ts'
import type { Principal } from '../auth/principal.ts'
import { S3Error } from '../errors.ts'
import type { Identities } from '../identities/identities.ts'
import type { AccessQuestion, ExplainedDecision } from './explanation.ts'

/** What handlers work on. */
export interface AdminServices {
  identities: Identities
  /** Of the server, as `GetServerInfo` says it. */
  info(): ServerInfo
  explain(question: AccessQuestion): Promise<ExplainedDecision>
}

export interface ServerInfo {
  version: string
  region: string
  workers: number
  /** Since when this process runs. */
  startedMs: number
  endpoint: string
}

export interface AdminContext extends AdminServices {
  principal: Principal
  /** For what a handler finds that a request asks for besides its operation. Throws AccessDenied. */
  require(permission: AdminAction): void
}

/** What stands in braces in a path. */
export type ParameterName = 'account' | 'user' | 'policy' | 'key'

export type Parameters<N extends ParameterName = ParameterName> = Readonly<Record<N, string>>

type NamesIn<P extends string> = P extends `${string}{${infer N}}${infer Rest}` ? N | NamesIn<Rest> : never

interface Declared {
  name: string
  summary: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  permission: AdminAction
  /** Its path names the account that it is about; without one, it is about the server, which belongs to the main account. */
  path: `/v1/${string}`
  /** It is about the server although its path names an account: which accounts there are is not theirs to say. */
  ofServer?: true
  /** It changes nothing, although its method is not GET. */
  readOnly?: true
  /** Of a success. */
  status: 200 | 201 | 204
}

/** An operation as the port knows it. */
export interface AdminOperation extends Declared {
  /** Of the body; of the query, where the method is GET. */
  input: z.ZodObject
  /** Absent: the answer has no body. */
  output: z.ZodType | undefined
  /** Checks the input, and gives what runs the operation with it. Throws InvalidArgument. */
  prepare(given: unknown): PreparedRun
}

/** The answer holds what the schema of the output names, and nothing else. */
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

/** What a message repeats of a client's names. */
const pathCharsMax = 256

function checked<I extends z.ZodObject>(schema: I, given: unknown): z.output<I> {
  const { success, data, error } = schema.safeParse(given)
  if (success) return data
  const [issue] = error.issues
  const path = issue?.path.join('.') ?? ''
  const message = `${path === '' ? 'the input' : path}: ${issue?.message ?? 'is not valid'}`
  throw new S3Error('InvalidArgument', { message: message.slice(0, pathCharsMax) })
}
