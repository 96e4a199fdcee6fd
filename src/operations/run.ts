/** Runs an operation: permit, then handle. */
import type { Answer, Operation } from '../contract/operation.ts'
import { notImplemented } from '../errors.ts'
import type { OperationContext } from './context.ts'

export async function run(
  operation: Operation<OperationContext>,
  context: OperationContext,
  input: Record<string, unknown>,
): Promise<Answer> {
  if (!operation.implemented) throw notImplemented(operation.name)
  return operation.handle(context, input)
}
