/** How a call was refused: the S3 code, so that a table of rows can name it. Anything but an S3Error is a bug and fails the test. */
import { S3Error } from '../../src/errors.ts'

export function refusal(call: () => unknown): S3Error {
  try {
    call()
  } catch (error) {
    if (error instanceof S3Error) return error
    throw error
  }
  throw new Error('it was accepted')
}

export function codeOf(call: () => unknown): string {
  return refusal(call).code
}
