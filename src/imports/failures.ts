/** Failures of an import other than those of its endpoints. */
import { TransferFailed } from '../endpoint/failures.ts'

/** The import can't be made, although both endpoints answered: what they say does not fit together. */
export class ImportRefused extends TransferFailed {
  constructor(message: string) {
    super(message)
    this.name = 'ImportRefused'
  }
}
