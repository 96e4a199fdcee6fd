/** Every operation, in the order of the docs. Order decides nothing. */
import type { Operation } from '../contract/operation.ts'
import type { OperationContext } from './context.ts'

export const operations: readonly Operation<OperationContext>[] = []
