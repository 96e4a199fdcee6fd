/** Loads the AWS SDK, which needs to be installed only where a store of type s3 is configured. */

export type Sdk = typeof import('@aws-sdk/client-s3')

/** Thrown when the SDK is not installed. The message says what to do. */
export class SdkMissing extends Error {
  constructor() {
    super('a store of type s3 needs a package that is not installed: npm install @aws-sdk/client-s3')
    this.name = 'SdkMissing'
  }
}

/** Throws `SdkMissing`. */
export async function loadSdk(): Promise<Sdk> {
  try {
    return await import('@aws-sdk/client-s3')
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
    throw isMissing ? new SdkMissing() : error
  }
}
