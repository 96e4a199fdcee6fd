/** Who began an upload, as lists show it. */
import type { OpenUpload } from '../../records/records.ts'
import type { OperationContext, OwnerElement } from '../context.ts'

/** `owner`: of the object that the upload is to become. */
export const initiatorOf = (
  { ownerOf }: Pick<OperationContext, 'ownerOf'>,
  { initiator }: Pick<OpenUpload, 'initiator'>,
  owner: OwnerElement,
): OwnerElement => (initiator === undefined ? owner : ownerOf({ owner: initiator }))
