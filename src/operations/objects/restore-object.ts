/** RestoreObject. Archived objects can be read at any time, so S3's answer is the one about an object that has been restored already. */
import { absentUnless } from '../../contract/fields.ts'
import {
  checksumsIn,
  errorsOfVersion,
  ownership,
  requestCharged,
  requiredDocument,
  versionId,
} from '../../contract/groups.ts'
import { integer, oneOf, optional, refusedElement, string, struct } from '../../contract/shapes.ts'
import { invalidArgument, S3Error } from '../../errors.ts'
import { findVersion } from '../../objects/find-version.ts'
import { defineOperation } from '../context.ts'
import { shownStorageClass } from './object-attributes.ts'
import { isArchived } from './restore-status.ts'

const tier = optional(oneOf('Standard', 'Bulk', 'Expedited'))
const restoreRequestShape = struct({
  Days: optional(integer),
  GlacierJobParameters: optional(struct({ Tier: tier })),
  Tier: tier,
  Description: optional(string),
  // Queries of what is archived.
  Type: refusedElement,
  SelectParameters: refusedElement,
  OutputLocation: refusedElement,
})

export const restoreObjectOperation = defineOperation({
  name: 'RestoreObject',
  method: 'POST',
  target: 'object',
  query: ['restore'],
  permission: 's3:RestoreObject',
  summary: 'Does nothing, because archived objects can be read at any time. Refuses objects that are not archived.',
  input: { versionId, ...checksumsIn, ...ownership },
  inputBody: requiredDocument('RestoreRequest', restoreRequestShape),
  output: {
    ...requestCharged,
    outputPath: absentUnless('restore-output-path', 'the results of a query were asked for'),
  },
  errors: [...errorsOfVersion, 'InvalidArgument', 'InvalidObjectState', 'MalformedXML', 'NotImplemented'],

  async handle({ backend, scope, key }, { body: { Days: days }, versionId }) {
    if (days !== undefined && days < 1) {
      throw invalidArgument('Days', String(days), 'Restoration days should be at least 1')
    }
    const { record } = await findVersion(backend, scope, key, versionId, 'refused')
    if (isArchived(record.attributes.storageClass)) return {}
    throw new S3Error('InvalidObjectState', {
      message: "Restore is not allowed for the object's current storage class",
      details: { StorageClass: shownStorageClass(record.attributes) },
    })
  },
})
