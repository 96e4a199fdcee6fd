/** What an operation is: one declaration that routing, decoding, encoding, documentation and types derive from. */
import type { ErrorCode } from '../errors.ts'
import type {
  DecodedBody,
  DecodedFields,
  EncodedBody,
  EncodedFields,
  InputBody,
  InputField,
  InputFields,
  OutputBody,
  OutputFields,
} from './fields.ts'

export type Method = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
/**
 * How a request is authenticated. `signed`: it must be signed. `anonymous allowed`: it can be unsigned, but a wrong signature is refused. `form`: the policy in the
 * form must be signed; a form with neither policy nor signature is anonymous. The form's fields take the place of headers.
 */
export type Authentication = 'signed' | 'anonymous allowed' | 'form'
/** What a request addresses: the service, an account or a bucket's ARN (both of S3 Control), a bucket, or an object. */
export type Target = 'service' | 'account' | 'arn' | 'bucket' | 'object'

/** The parts of a declaration that match a request. If several operations match, the one with the most requirements wins. */
export interface Route {
  method: Method
  target: Target
  /** Query parameters that must be present (`uploads`), or present with a value (`list-type=2`). The first is the sub-resource. */
  query: readonly string[]
  /** Vendor headers that must be present: CopyObject is PutObject with `copy-source`. */
  vendorHeaders: readonly string[]
}

export type Permissions = string | readonly string[]

/** An operation without its types, as tables and the pipeline see it. */
export interface Operation<Context> extends Route {
  name: string
  /** The permissions that a request needs, with AWS's names: `s3:GetObject`. None: the handler checks each of its actions. */
  permission: Permissions
  /** Replaces `permission` when the request names a version, where AWS distinguishes the two: `s3:GetObjectVersion`. */
  versionPermission?: Permissions
  authentication: Authentication
  summary: string
  /** The status of a success, unless the handler returns another. */
  status: number
  /** False: S3 has the operation, and this server refuses it by name with NotImplemented. */
  implemented: boolean
  /** It can take longer than clients wait for a status line. So 200 and white space are sent meanwhile, and a later error goes into the body. */
  slow: boolean
  input: Record<string, InputField<unknown>>
  inputBody: InputBody
  output: OutputFields
  outputBody: OutputBody
  errors: readonly ErrorCode[]
  /** See `Declaration`. */
  conditions?: ((input: Record<string, unknown>) => ConditionValues) | undefined
  handle(context: Context, input: Record<string, unknown>): Promise<Answer>
}

/** Values by condition key of policies. */
export type ConditionValues = Readonly<Record<string, string | readonly string[] | undefined>>

/** What a handler returns: the output fields, `body`, and a status if it differs from the declared one. */
export type Answer = Record<string, unknown> & { status?: number }

export interface Declaration<
  Context,
  I extends InputFields,
  IB extends InputBody,
  O extends OutputFields,
  OB extends OutputBody,
> {
  name: string
  method: Method
  target: Target
  query?: readonly string[]
  vendorHeaders?: readonly string[]
  permission: Permissions
  versionPermission?: Permissions
  /** Default: `signed`. */
  authentication?: Authentication
  /** One line for the docs. */
  summary: string
  status?: number
  slow?: boolean
  input: I
  inputBody?: IB
  output: O
  outputBody?: OB
  /** The errors of this operation beyond those that any signed request can get: authentication, permission, addressing. */
  errors: readonly ErrorCode[]
  /** Condition values that come from the operation itself or from its document. Those from headers and query are known without this. */
  conditions?: (input: DecodedFields<I> & DecodedBody<IB>) => ConditionValues
  handle(
    context: Context,
    input: DecodedFields<I> & DecodedBody<IB>,
  ): Promise<EncodedFields<O> & EncodedBody<OB> & { status?: number }>
}

/** Returns `defineOperation` for handlers that run in `Context`. */
export function operationsIn<Context>() {
  return function defineOperation<
    const I extends InputFields,
    const O extends OutputFields,
    const IB extends InputBody = { kind: 'none' },
    const OB extends OutputBody = { kind: 'none' },
  >(declaration: Declaration<Context, I, IB, O, OB>): Operation<Context> {
    return {
      query: [],
      vendorHeaders: [],
      authentication: 'signed',
      status: 200,
      slow: false,
      inputBody: { kind: 'none' },
      outputBody: { kind: 'none' },
      ...declaration,
      implemented: true,
      conditions: declaration.conditions as Operation<Context>['conditions'],
      // The decoder builds exactly the declared fields, so the input without its type fits the handler.
      handle: declaration.handle as Operation<Context>['handle'],
    }
  }
}
