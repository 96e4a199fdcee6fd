/** Writes down who changes a bucket or an account through the S3 port, before the change is answered (ADR 0048). */
import { type AuditLog, noAuditLog } from '../../audit/audit-log.ts'
import type { Clock } from '../../clock.ts'
import type { Answer, Operation } from '../../contract/operation.ts'
import type { OperationContext, OperationRequest } from '../../operations/context.ts'
import { isoTime } from '../../time-text.ts'
import type { Exchange } from '../exchange.ts'

/** Whether the operation changes a bucket or an account itself. The operations of buckets that change objects are all POSTs; one of an ARN changes tags. */
export const isConfiguring = ({ target, method }: Operation<OperationContext>): boolean =>
  target !== 'object' && (method === 'PUT' || method === 'DELETE' || (method === 'POST' && target === 'arn'))

export class AuditedChanges {
  readonly #audit: AuditLog
  readonly #clock: Clock

  constructor({ audit = noAuditLog, clock }: { audit?: AuditLog | undefined; clock: Clock }) {
    this.#audit = audit
    this.#clock = clock
  }

  /** Makes the change only if it can be written down. Throws ServiceUnavailable, and what the change throws. */
  async make(
    exchange: Exchange,
    { bucket, principal }: OperationRequest,
    { name }: Pick<Operation<OperationContext>, 'name'>,
    change: () => Promise<Answer>,
  ): Promise<Answer> {
    await this.#audit.ready()
    const answer = await change()
    await this.#audit.record({
      time: isoTime(this.#clock.now()),
      port: 's3',
      operation: name,
      requestId: exchange.requestId,
      traceId: exchange.traceId,
      remote: exchange.clientAddress ?? '',
      accessKeyId: principal.accessKeyId,
      account: principal.accountId,
      user: principal.user?.name,
      target: bucket === '' ? {} : { bucket },
    })
    return answer
  }
}
