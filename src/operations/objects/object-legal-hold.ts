/** PutObjectLegalHold, GetObjectLegalHold. */
import {
  checksumsIn,
  errorsOfVersion,
  ownership,
  requestCharged,
  requiredDocument,
  versionId,
} from '../../contract/groups.ts'
import { oneOf, struct } from '../../contract/shapes.ts'
import { S3Error } from '../../errors.ts'
import { findLockable, setLegalHold } from '../../objects/change-version.ts'
import { defineOperation } from '../context.ts'

const legalHoldShape = struct({ Status: oneOf('ON', 'OFF') })

export const putObjectLegalHoldOperation = defineOperation({
  name: 'PutObjectLegalHold',
  method: 'PUT',
  target: 'object',
  query: ['legal-hold'],
  permission: 's3:PutObjectLegalHold',
  summary: 'Puts a version under legal hold, or lifts the hold.',
  input: { versionId, ...checksumsIn, ...ownership },
  inputBody: requiredDocument('LegalHold', legalHoldShape, 'by AWS'),
  output: requestCharged,
  errors: [...errorsOfVersion, 'InvalidRequest', 'MalformedXML'],

  conditions: ({ body }) => ({ 's3:object-lock-legal-hold': body.Status }),

  async handle({ backend, scope, key }, { body, versionId }) {
    await setLegalHold(backend, scope, { key, versionId }, body.Status === 'ON')
    return {}
  },
})

export const getObjectLegalHoldOperation = defineOperation({
  name: 'GetObjectLegalHold',
  method: 'GET',
  target: 'object',
  query: ['legal-hold'],
  permission: 's3:GetObjectLegalHold',
  summary: 'Returns whether a version is under legal hold.',
  input: { versionId, ...ownership },
  output: {},
  outputBody: { kind: 'xml', root: 'LegalHold', shape: legalHoldShape },
  errors: [...errorsOfVersion, 'InvalidRequest', 'NoSuchObjectLockConfiguration'],

  async handle({ backend, scope, key }, { versionId }) {
    const { legalHold } = await findLockable(backend, scope, { key, versionId })
    if (legalHold === undefined) throw new S3Error('NoSuchObjectLockConfiguration', { details: { Key: key } })
    return { body: { Status: legalHold ? ('ON' as const) : ('OFF' as const) } }
  },
})
