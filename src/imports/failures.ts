/** What can stop an import besides its endpoints. */
import { TransferFailed } from '../endpoint/failures.ts'

/** What the endpoints say does not go together. */
export class ImportRefused extends TransferFailed {
  constructor(message: string) {
    super(message)
    this.name = 'ImportRefused'
  }
}
