/** The table of all errors: S3 code -> HTTP status and default message. Any other error that is thrown is a bug, and clients get InternalError. */

export const errorTable = {
  AccessControlListNotSupported: { status: 400, message: 'The bucket does not allow ACLs' },
  AccessDenied: { status: 403, message: 'Access Denied' },
  AccessForbidden: { status: 403, message: 'CORSResponse: CORS is not enabled for this bucket.' },
  AuthorizationHeaderMalformed: { status: 400, message: 'The authorization header that you provided is not valid.' },
  AuthorizationQueryParametersError: { status: 400, message: 'The authorization query parameters are not valid.' },
  BadDigest: { status: 400, message: 'The Content-MD5 you specified did not match what we received.' },
  BadRequest: { status: 400, message: 'The request could not be understood.' },
  BucketAlreadyExists: {
    status: 409,
    message:
      'The requested bucket name is not available. The bucket namespace is shared by all users of the system. Please select a different name and try again.',
  },
  BucketAlreadyOwnedByYou: {
    status: 409,
    message: 'Your previous request to create the named bucket succeeded and you already own it.',
  },
  BucketNotEmpty: { status: 409, message: 'The bucket you tried to delete is not empty' },
  ConditionalRequestConflict: {
    status: 409,
    message: 'The conditional request cannot succeed due to a conflicting operation against this resource.',
  },
  EntityTooLarge: { status: 400, message: 'Your proposed upload exceeds the maximum allowed size' },
  EntityTooSmall: { status: 400, message: 'Your proposed upload is smaller than the minimum allowed size' },
  ExpiredToken: { status: 400, message: 'The provided token has expired.' },
  IncompleteBody: {
    status: 400,
    message: 'You did not provide the number of bytes specified by the Content-Length header.',
  },
  InternalError: { status: 500, message: 'An internal error occurred. Try again.' },
  InvalidAccessKeyId: { status: 403, message: 'The AWS Access Key Id you provided does not exist in our records.' },
  InvalidArgument: { status: 400, message: 'Invalid argument.' },
  IllegalVersioningConfigurationException: { status: 400, message: 'The Versioning element must be specified' },
  InvalidBucketAclWithObjectOwnership: {
    status: 400,
    message: "Bucket cannot have ACLs set with ObjectOwnership's BucketOwnerEnforced setting",
  },
  InvalidBucketName: { status: 400, message: 'The specified bucket is not valid.' },
  InvalidBucketState: { status: 409, message: 'The request is not valid for the current state of the bucket.' },
  InvalidChunkSizeError: {
    status: 403,
    message: 'Only the last chunk is allowed to have a size less than 8192 bytes.',
  },
  InvalidDigest: { status: 400, message: 'The Content-MD5 you specified was invalid.' },
  InvalidEncryptionAlgorithmError: {
    status: 400,
    message: 'The Encryption request you specified is not valid. Supported value: AES256.',
  },
  InvalidLocationConstraint: { status: 400, message: 'The specified location-constraint is not valid' },
  InvalidObjectState: { status: 403, message: "The operation is not valid for the object's storage class" },
  InvalidPart: {
    status: 400,
    message:
      "One or more of the specified parts could not be found.  The part may not have been uploaded, or the specified entity tag may not match the part's entity tag.",
  },
  InvalidPartNumber: { status: 416, message: 'The requested partnumber is not satisfiable' },
  InvalidPartOrder: {
    status: 400,
    message: 'The list of parts was not in ascending order. Parts must be ordered by part number.',
  },
  InvalidPolicyDocument: {
    status: 400,
    message: 'The content of the form does not meet the conditions specified in the policy document.',
  },
  InvalidRange: { status: 416, message: 'The requested range is not satisfiable' },
  InvalidRedirectLocation: {
    status: 400,
    message: "The website redirect location must have a prefix of 'http://' or 'https://' or '/'.",
  },
  InvalidRequest: { status: 400, message: 'Invalid Request' },
  InvalidStorageClass: { status: 400, message: 'The storage class you specified is not valid' },
  InvalidTag: { status: 400, message: 'The tag provided was not a valid tag.' },
  InvalidTargetBucketForLogging: {
    status: 400,
    message: 'The target bucket for logging does not exist, is not owned by you, or does not let the log be written.',
  },
  InvalidToken: { status: 400, message: 'The provided token is malformed or otherwise invalid.' },
  InvalidURI: { status: 400, message: 'The specified URI could not be parsed.' },
  'KMS.NotFoundException': { status: 400, message: 'The key that the request names does not exist.' },
  KeyTooLongError: { status: 400, message: 'Your key is too long' },
  MalformedACLError: {
    status: 400,
    message: 'The XML you provided was not well-formed or did not validate against our published schema',
  },
  MalformedPolicy: { status: 400, message: 'This policy is malformed.' },
  MalformedPOSTRequest: {
    status: 400,
    message: 'The body of your POST request is not well-formed multipart/form-data.',
  },
  MalformedTrailerError: {
    status: 400,
    message: 'The request contained trailing data that was not well-formed or did not conform to our published schema.',
  },
  MalformedXML: {
    status: 400,
    message: 'The XML you provided was not well-formed or did not validate against our published schema',
  },
  MaxPostPreDataLengthExceeded: {
    status: 400,
    message: 'Your POST request fields preceding the upload file were too large.',
  },
  MaxMessageLengthExceeded: { status: 400, message: 'Your request was too big.' },
  MetadataTooLarge: { status: 400, message: 'Your metadata headers exceed the maximum allowed metadata size' },
  MethodNotAllowed: { status: 405, message: 'The specified method is not allowed against this resource.' },
  MissingContentLength: { status: 411, message: 'You must provide the Content-Length HTTP header.' },
  MissingRequestBodyError: { status: 400, message: 'Request Body is empty' },
  MissingSecurityHeader: { status: 400, message: 'Your request was missing a required header.' },
  NoSuchBucket: { status: 404, message: 'The specified bucket does not exist' },
  NoSuchPublicAccessBlockConfiguration: {
    status: 404,
    message: 'The public access block configuration was not found',
  },
  NoSuchBucketPolicy: { status: 404, message: 'The bucket policy does not exist' },
  NoSuchConfiguration: { status: 404, message: 'The specified configuration does not exist.' },
  NoSuchCORSConfiguration: { status: 404, message: 'The CORS configuration does not exist' },
  NoSuchKey: { status: 404, message: 'The specified key does not exist.' },
  NoSuchLifecycleConfiguration: { status: 404, message: 'The lifecycle configuration does not exist' },
  NoSuchObjectLockConfiguration: {
    status: 404,
    message: 'The specified object does not have a ObjectLock configuration',
  },
  NoSuchTagSet: { status: 404, message: 'The TagSet does not exist' },
  NoSuchUpload: {
    status: 404,
    message:
      'The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.',
  },
  NoSuchVersion: { status: 404, message: 'The specified version does not exist.' },
  NoSuchWebsiteConfiguration: {
    status: 404,
    message: 'The specified bucket does not have a website configuration',
  },
  NotImplemented: {
    status: 501,
    message: 'A header or operation that you provided implies functionality that is not implemented.',
  },
  NotModified: { status: 304, message: 'Not Modified' },
  ObjectLockConfigurationNotFoundError: {
    status: 404,
    message: 'Object Lock configuration does not exist for this bucket',
  },
  OperationAborted: {
    status: 409,
    message: 'A conflicting conditional operation is currently in progress against this resource. Please try again.',
  },
  OwnershipControlsNotFoundError: { status: 404, message: 'The bucket ownership controls were not found' },
  PreconditionFailed: { status: 412, message: 'At least one of the pre-conditions you specified did not hold' },
  QuotaExceeded: { status: 403, message: 'The quota of the bucket leaves no room for this.' },
  ReplicationConfigurationNotFoundError: { status: 404, message: 'The replication configuration was not found' },
  RequestHeaderSectionTooLarge: {
    status: 400,
    message: 'Your request header section exceeds the maximum allowed size.',
  },
  RequestTimeTooSkewed: {
    status: 403,
    message: 'The difference between the request time and the current time is too large.',
  },
  RequestTimeout: {
    status: 400,
    message: 'Your socket connection to the server was not read from or written to within the timeout period.',
  },
  ServerSideEncryptionConfigurationNotFoundError: {
    status: 404,
    message: 'The server side encryption configuration was not found',
  },
  ServiceUnavailable: { status: 503, message: 'Service is unable to handle the request.' },
  SignatureDoesNotMatch: {
    status: 403,
    message:
      'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
  },
  SlowDown: { status: 503, message: 'Please reduce your request rate.' },
  UnexpectedContent: { status: 400, message: 'This request does not support content' },
  UserKeyMustBeSpecified: { status: 400, message: 'User key must be specified.' },
  XAmzContentSHA256Mismatch: {
    status: 400,
    message: "The provided 'x-amz-content-sha256' header does not match what was computed.",
  },
} as const satisfies Record<string, { status: number; message: string }>

export type ErrorCode = keyof typeof errorTable

export interface ErrorContext {
  /** Replaces the table's message. Never put a secret here: it is sent to the client. */
  message?: string
  /** Extra elements of the error body, such as `ArgumentName` or `BucketName`. */
  details?: Record<string, string>
  /** Elements whose value is the name of a vendor header, without its prefix: `{ ArgumentName: 'copy-source' }`. */
  vendorDetails?: Record<string, string>
  /** A message that names vendor headers. `header` adds the prefix of the client's dialect to a name. */
  vendorMessage?: (header: (name: string) => string) => string
  /** Extra response headers, by unprefixed vendor name: `{ 'delete-marker': 'true' }`. */
  vendorHeaders?: Record<string, string>
  /** Plain response headers, such as `ETag` on a 304. */
  headers?: Record<string, string>
  /** The cause of the decision, for the log only. Clients must not see it. */
  reason?: string
  /** Finds the reason when there is time for it. */
  findReason?(): string
  cause?: unknown
}

/** An answer to the client other than success. `code` says everything the status line needs. */
export class S3Error extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly details: Record<string, string>
  readonly vendorDetails: Record<string, string>
  private readonly vendorMessage: ErrorContext['vendorMessage']
  readonly vendorHeaders: Record<string, string>
  readonly headers: Record<string, string>
  readonly reason: string | undefined
  readonly findReason: (() => string) | undefined

  constructor(code: ErrorCode, context: ErrorContext = {}) {
    // Nobody reads the stack of a refusal, and making it took a seventh of the time of an answer 404.
    const { stackTraceLimit } = Error
    if (errorTable[code].status < 500) Error.stackTraceLimit = 0
    super(
      context.message ?? context.vendorMessage?.((name) => name) ?? errorTable[code].message,
      context.cause === undefined ? undefined : { cause: context.cause },
    )
    Error.stackTraceLimit = stackTraceLimit
    this.name = 'S3Error'
    this.code = code
    this.status = errorTable[code].status
    this.details = context.details ?? {}
    this.vendorDetails = context.vendorDetails ?? {}
    this.vendorMessage = context.vendorMessage
    this.vendorHeaders = context.vendorHeaders ?? {}
    this.headers = context.headers ?? {}
    this.reason = context.reason
    this.findReason = context.findReason
  }

  /** The message for a client whose vendor headers have this prefix. */
  messageFor(prefix: string): string {
    return this.vendorMessage?.((name) => `${prefix}${name}`) ?? this.message
  }
}

/**
 * The process is about to end, and nobody knows whether the change that was asked for was made. Clients get a 503, because they can repeat the request. It is no `S3Error`: those are decisions, after which what was written
 * for the change is removed.
 */
export class ProcessEnding extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options)
    this.name = 'ProcessEnding'
  }
}

/** `InvalidArgument` as S3 answers it, with the argument's name and value as elements. Leaves out the value of a customer's key, because errors are logged. */
export function invalidArgument(name: string, value: string, message: string): S3Error {
  const shownValue = /-customer-key$/i.test(name) ? '' : value
  return new S3Error('InvalidArgument', { message, details: { ArgumentName: name, ArgumentValue: shownValue } })
}

/** The same where S3 does not repeat the value. */
export const argumentWithoutValue = (name: string, message: string): S3Error =>
  new S3Error('InvalidArgument', { message, details: { ArgumentName: name } })

/** The same for a vendor header. `name`: without its prefix. `message`: the text, or what makes it from the prefixed name. */
export function invalidVendorArgument(
  name: string,
  value: string,
  message: string | ((prefixedName: string) => string),
): S3Error {
  return new S3Error('InvalidArgument', {
    vendorMessage: (header) => (typeof message === 'string' ? message : message(header(name))),
    vendorDetails: { ArgumentName: name },
    details: { ArgumentValue: value },
  })
}

/** Refuses a feature of S3 that this server lacks, by its name, because nothing is silently ignored. */
export function notImplemented(what: string): S3Error {
  return new S3Error('NotImplemented', {
    message: `${what} is not implemented by this server.`,
    details: { NotImplemented: what },
  })
}
