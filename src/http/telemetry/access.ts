/** A request as access logs see it. */
import type { Answer, Operation } from '../../contract/operation.ts'
import type { OperationContext, OperationRequest } from '../../operations/context.ts'

/** A request, as far as it was understood. Every request has one, so it only holds what is there anyway. */
export interface Access {
  bucket: string
  /** Empty: the request is about the bucket itself. */
  key: string
  /** In the words of access logs. Absent: they follow from the operation. */
  words?: string
  /** Absent: it was refused before it was known. */
  operation?: Pick<Operation<OperationContext>, 'name' | 'query'>
  /** Absent: it was refused before it was known who sent it. */
  request?: Omit<OperationRequest, 'bucket' | 'key'>
  input?: Readonly<Record<string, unknown>>
  /** Absent: an error was the answer. */
  answer?: Answer | undefined
}

/** What became of one of the objects that a DeleteObjects named. */
export interface LoggedDeletion {
  key: string
  versionId: string | undefined
  status: number
  /** Empty: it is deleted. */
  code: string
}
