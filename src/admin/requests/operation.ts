/** An operation of the admin port: a declaration, from which its route, permission, checks and documentation follow, and a handler. */
import type { z } from 'zod'
import type { AdminAction } from '../../access/admin-actions.ts'
import type { Principal } from '../../auth/principal.ts'
import { S3Error } from '../../errors.ts'
import type { LogIns } from '../../logins/log-ins.ts'
import type { AdminServices } from '../services.ts'

export interface AdminContext extends AdminServices {
  principal: Principal
  /** Checks a further permission that the handler finds the request to need. Throws AccessDenied. */
  require(permission: AdminAction): void
  /** Whether the sender may call the operation for its own account. */
  may(operation: AdminOperation): boolean
  logIns: LogIns
  /** What is known about the sender beyond its identity. */
  client: AdminClient
  /** Headers of a successful answer: a name, its value, the next name. */
  answerHeaders: string[]
  /** What else the audit log should name. No secrets. */
  noted: Record<string, string>
}

export interface AdminClient {
  address: string
  /** The origin by which the client reached this port, such as `http://127.0.0.1:9001`. */
  origin: string
  /** The cookie header as sent. Absent: none. */
  cookies: string | undefined
  /** The query as sent, without the question mark. */
  rawQuery: string
  /** The browser session that sent the request. Absent: it was signed, or it is open to everybody. */
  session?: { id: string; csrfToken: string; expiresMs: number } | undefined
}

/** A name in braces in a path. */
export type ParameterName = 'account' | 'bucket' | 'user' | 'policy' | 'key' | 'store'

export type Parameters<N extends ParameterName = ParameterName> = Readonly<Record<N, string>>

type NamesIn<P extends string> = P extends `${string}{${infer N}}${infer Rest}` ? N | NamesIn<Rest> : never

/** `anyone`: needs no proof of identity. `sender`: open to every proven sender, because it concerns only the sender itself. */
export type Permission = AdminAction | 'anyone' | 'sender'

interface Declared {
  name: string
  summary: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  permission: Permission
  /** A path that names an account makes the operation about that account. Otherwise it is about the server, which belongs to the main account. */
  path: `/v1/${string}`
  /** The operation is about the server although its path names an account, because accounts don't decide which accounts exist. */
  ofServer?: true
  /** The operation changes nothing, although its method is not GET. */
  readOnly?: true
  /** The status of a success. */
  status: 200 | 201 | 204 | 303
}

/** An operation as the port runs it. */
export interface AdminOperation extends Declared {
  /** The schema of the body, or of the query when the method is GET. */
  input: z.ZodObject
  /** Absent: the answer has no body. For a stream, the schema of one event. */
  output: z.ZodType | undefined
  /** The answer is a stream of server-sent events that ends with the connection. */
  isStream: boolean
  /** Checks the input, and returns a function that runs the operation with it. Throws InvalidArgument. */
  prepare(given: unknown): PreparedRun
}

/** Resolves with the fields that the output's schema names, or with the events of a stream. */
export type PreparedRun = (context: AdminContext, parameters: Parameters, signal: AbortSignal) => Promise<unknown>

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
    isStream: false,
    prepare: (given) => {
      const input = checked(declared.input, given)
      return async (context, parameters) => {
        const result = await handle(context, parameters, input)
        return declared.output?.parse(result)
      }
    },
  }
}

interface StreamDeclaration<I extends z.ZodObject, O extends z.ZodType>
  extends Omit<Declared, 'method' | 'status' | 'readOnly'> {
  input: I
  output: O
  /** Ends soon after the signal is aborted. */
  events(context: AdminContext, input: z.output<I>, signal: AbortSignal): AsyncIterable<z.input<O>>
}

/** Declares a GET whose answer is a stream of events. */
export function defineAdminStream<I extends z.ZodObject, O extends z.ZodType>({
  events,
  ...declared
}: StreamDeclaration<I, O>): AdminOperation {
  return {
    ...declared,
    method: 'GET',
    status: 200,
    isStream: true,
    prepare: (given) => {
      const input = checked(declared.input, given)
      return async (context, _, signal) => parsed(events(context, input, signal), declared.output)
    },
  }
}

async function* parsed<O extends z.ZodType>(events: AsyncIterable<z.input<O>>, schema: O): AsyncGenerator<unknown> {
  for await (const event of events) yield schema.parse(event)
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
