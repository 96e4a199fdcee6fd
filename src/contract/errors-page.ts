/** Renders every error that a client can get as Markdown: docs/errors.md. */
import { type ErrorCode, errorTable } from '../errors.ts'
import { errorCauses, ownCodesOf } from './error-causes.ts'
import { code, page, table } from './markdown.ts'
import type { DeclaredOperation } from './support-table.ts'

export function errorsPage(operations: readonly DeclaredOperation[]): string {
  return page([
    '# Errors',
    '',
    '<!-- Generated from the table of errors and the operations’ declarations by `npm run docs`. Do not edit. -->',
    '',
    'An error is answered with its status and an XML document, of content type `application/xml`:',
    '',
    '```xml',
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message><Key>cat.jpg</Key>' +
      '<Resource>/photos/cat.jpg</Resource><RequestId>…</RequestId><HostId>…</HostId></Error>',
    '```',
    '',
    '- The document is the same in both dialects, without a namespace. Between `Message` and `Resource` come the elements of this error,',
    '  such as `Key`, `BucketName`, `ArgumentName` or, for a refusal by name, `NotImplemented`.',
    '- The request’s id is also a header: `x-amz-request-id` (with the host’s id as `x-amz-id-2`) for requests in the `x-amz-` dialect, `x-store-request-id` for any other.',
    '- Requests of S3 Control get `<ErrorResponse><Error>…</Error><RequestId>…</RequestId><HostId>…</HostId></ErrorResponse>`, as from AWS.',
    '- The answer to a HEAD, and one of status 304, has no document.',
    '- An operation that takes long sends 200 and white space while it works (CopyObject, UploadPartCopy, CompleteMultipartUpload). A later error',
    '  is the root of its document, instead of the result.',
    '- DeleteObjects reports the failure of one object as an `Error` in its result, with `Key`, `VersionId`, `Code` and `Message`.',
    '- An error that is worth a retry (503) has the header `Retry-After`.',
    '',
    ...table(
      ['Code', 'Status', 'Answered by', 'Message'],
      Object.entries(errorTable).map(([name, { status, message }]) => [
        code(name),
        String(status),
        answeredBy(name as ErrorCode, operations),
        message,
      ]),
    ),
    '',
    '## What any request can meet',
    '',
    ...table(
      ['Requests', 'Because of', 'Codes'],
      errorCauses.map(({ of, why, codes }) => [of, why, codes.map(code).join(', ')]),
    ),
  ])
}

/** The widest cause with this code, and the operations that add it. */
function answeredBy(name: ErrorCode, operations: readonly DeclaredOperation[]): string {
  const cause = errorCauses.find(({ codes }) => codes.includes(name))
  const declaring = operations.filter(
    (operation) => operation.implemented && ownCodesOf(operation).has(name) && cause?.meets(operation) !== true,
  )
  return [...(cause === undefined ? [] : [cause.of]), ...declaring.map((operation) => operation.name)].join(', ')
}
