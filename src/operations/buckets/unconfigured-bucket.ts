/** Builders of operations on configurations that no bucket here has. Each finds the bucket, then answers as S3 does for a new bucket. */
import type { InputFields } from '../../contract/fields.ts'
import { checksumsIn, ownership, type requestCharged, requiredDocument } from '../../contract/groups.ts'
import type { Method, Operation } from '../../contract/operation.ts'
import type { Infer, Shape } from '../../contract/shapes.ts'
import { type ErrorCode, errorTable, S3Error } from '../../errors.ts'
import { findBucket } from '../../objects/buckets.ts'
import { defineOperation, type OperationContext } from '../context.ts'

interface Named {
  name: string
  query: readonly string[]
  permission: string
  summary: string
  /** In addition to the fields of every operation on a bucket. */
  input?: InputFields
  /** The errors of invalid input. */
  errors?: readonly ErrorCode[]
}

/** A read that gives the same document for every bucket. */
export function answersAlways<S extends Shape>(
  { input, output, errors = [], ...named }: Named & { output?: typeof requestCharged },
  root: string,
  shape: S,
  body: NoInfer<Infer<S>>,
): Operation<OperationContext> {
  return defineOperation({
    ...named,
    method: 'GET',
    target: 'bucket',
    input: { ...input, ...ownership },
    output: output ?? {},
    outputBody: { kind: 'xml', root, shape: shape as Shape },
    errors: ['NoSuchBucket', ...errors],

    async handle({ backend, scope }) {
      await findBucket(backend, scope)
      return { body }
    },
  })
}

/** Reads or removes a configuration that no bucket has. It always answers an error, so the declared status is that error's. */
export function findsNothing(
  method: Extract<Method, 'GET' | 'DELETE'>,
  { input, errors = [], ...named }: Named,
  code: ErrorCode,
): Operation<OperationContext> {
  return defineOperation({
    ...named,
    method,
    target: 'bucket',
    status: errorTable[code].status,
    input: { ...input, ...ownership },
    output: {},
    errors: ['NoSuchBucket', code, ...errors],

    async handle({ backend, scope, bucket }) {
      await findBucket(backend, scope)
      throw new S3Error(code, { details: { BucketName: bucket } })
    },
  })
}

/** A write that accepts only a document that changes nothing. `check` throws for any other. */
export function acceptsOnly<S extends Shape>(
  { input, errors = [], ...named }: Named,
  root: string,
  shape: S,
  check: (document: NoInfer<Infer<S>>) => void,
): Operation<OperationContext> {
  return defineOperation({
    ...named,
    method: 'PUT',
    target: 'bucket',
    input: { ...input, ...checksumsIn, ...ownership },
    inputBody: requiredDocument(root, shape as Shape),
    output: {},
    errors: ['NoSuchBucket', 'MalformedXML', 'BadDigest', 'InvalidDigest', 'NotImplemented', ...errors],

    async handle({ backend, scope }, { body }) {
      await findBucket(backend, scope)
      check(body as Infer<S>)
      return {}
    },
  })
}
