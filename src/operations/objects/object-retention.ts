/** PutObjectRetention, GetObjectRetention. */
import {
  bypassGovernanceRetention,
  checksumsIn,
  errorsOfVersion,
  ownership,
  requestCharged,
  requiredDocument,
  versionId,
} from '../../contract/groups.ts'
import { oneOf, optional, refusedElement, struct, timestamp } from '../../contract/shapes.ts'
import { S3Error } from '../../errors.ts'
import { findLockable, setRetention } from '../../objects/change-version.ts'
import type { Retention } from '../../records/object-attributes.ts'
import { isoTime } from '../../time-text.ts'
import { defineOperation } from '../context.ts'

const retentionShape = struct({
  Mode: optional(oneOf('GOVERNANCE', 'COMPLIANCE')),
  RetainUntilDate: optional(timestamp),
  EventHold: refusedElement,
  EventHoldDuration: refusedElement,
})

export const putObjectRetentionOperation = defineOperation({
  name: 'PutObjectRetention',
  method: 'PUT',
  target: 'object',
  query: ['retention'],
  permission: 's3:PutObjectRetention',
  summary: 'Sets how long a version is kept. COMPLIANCE can only be extended; shortening GOVERNANCE needs the bypass.',
  input: { versionId, bypassGovernanceRetention, ...checksumsIn, ...ownership },
  inputBody: requiredDocument('Retention', retentionShape, true),
  output: requestCharged,
  errors: [...errorsOfVersion, 'InvalidRequest', 'InvalidArgument', 'MalformedXML', 'AccessDenied'],

  conditions: ({ body: { Mode, RetainUntilDate } }) => ({
    's3:object-lock-mode': Mode,
    's3:object-lock-retain-until-date': RetainUntilDate === undefined ? undefined : isoTime(RetainUntilDate),
  }),

  async handle({ backend, scope, key, mayBypassGovernance }, { body, versionId, bypassGovernanceRetention }) {
    const bypass = mayBypassGovernance(bypassGovernanceRetention)
    await setRetention(backend, scope, { key, versionId }, toRetention(body), bypass)
    return {}
  },
})

/** A document without mode and date removes the retention. One without the other is MalformedXML. */
function toRetention({
  Mode: mode,
  RetainUntilDate: untilMs,
}: {
  Mode?: Retention['mode'] | undefined
  RetainUntilDate?: number | undefined
}): Retention | undefined {
  if (mode === undefined && untilMs === undefined) return undefined
  if (mode === undefined || untilMs === undefined) throw new S3Error('MalformedXML')
  return { mode, untilMs }
}

export const getObjectRetentionOperation = defineOperation({
  name: 'GetObjectRetention',
  method: 'GET',
  target: 'object',
  query: ['retention'],
  permission: 's3:GetObjectRetention',
  summary: 'Returns the retention of a version: its mode, and how long it lasts.',
  input: { versionId, ...ownership },
  output: {},
  outputBody: { kind: 'xml', root: 'Retention', shape: retentionShape },
  errors: [...errorsOfVersion, 'InvalidRequest', 'NoSuchObjectLockConfiguration'],

  async handle({ backend, scope, key }, { versionId }) {
    const { retention } = await findLockable(backend, scope, { key, versionId })
    if (retention === undefined) throw new S3Error('NoSuchObjectLockConfiguration', { details: { Key: key } })
    return { body: { Mode: retention.mode, RetainUntilDate: retention.untilMs } }
  },
})
