/** The names that the interface document has for the operations on multipart uploads. */
import {
  aclHeaders,
  checksumElements,
  checksumHeaders,
  customerKeyAnswers,
  customerKeyHeaders,
  type DocumentedOperations,
  encryptionHeaders,
  lockHeaders,
  ofObject,
  within,
} from './named.ts'

export const multipartOperations: DocumentedOperations = {
  CreateMultipartUpload: {
    request: {
      supported: {
        ...ofObject,
        header: [
          'Content-Disposition',
          'Expires',
          'Cache-Control',
          'Content-Encoding',
          'Content-Language',
          'Content-Type',
        ],
      },
      'not-supported': {
        vendor: [
          ...aclHeaders,
          'checksum-algorithm',
          'expected-bucket-owner',
          ...lockHeaders,
          'request-payer',
          ...encryptionHeaders,
          'server-side-encryption-context',
          ...customerKeyHeaders,
          'storage-class',
          'tagging',
          'website-redirect-location',
        ],
      },
    },
    answer: {
      supported: {
        element: [
          'InitiateMultipartUploadResult',
          ...within('InitiateMultipartUploadResult', 'Bucket', 'Key', 'UploadId'),
        ],
      },
      'not-supported': {
        vendor: [
          'abort-date',
          'abort-rule-id',
          'checksum-algorithm',
          'request-charged',
          ...encryptionHeaders,
          'server-side-encryption-context',
          ...customerKeyAnswers,
        ],
      },
    },
  },
  UploadPart: {
    request: {
      supported: { ...ofObject, query: ['partNumber', 'uploadId'], header: ['Content-Length'], data: ['body'] },
      'not-supported': {
        header: ['Content-MD5'],
        vendor: [
          ...checksumHeaders,
          'expected-bucket-owner',
          'request-payer',
          'sdk-checksum-algorithm',
          ...customerKeyHeaders,
        ],
      },
    },
    answer: {
      // The document flags server-side-encryption twice, with either flag.
      supported: { header: ['ETag'], vendor: [...checksumHeaders, 'server-side-encryption'] },
      'not-supported': {
        vendor: [
          'request-charged',
          'server-side-encryption-aws-kms-key-id',
          'server-side-encryption-bucket-key-enabled',
          ...customerKeyAnswers,
        ],
      },
    },
  },
  CompleteMultipartUpload: {
    request: {
      supported: {
        ...ofObject,
        query: ['uploadId'],
        element: ['CompleteMultipartUpload', 'CompleteMultipartUpload/Part'],
      },
      unflagged: { element: within('CompleteMultipartUpload/Part', ...checksumElements, 'ETag', 'PartNumber') },
      'not-supported': {
        header: ['If-None-Match'],
        vendor: [...checksumHeaders, 'expected-bucket-owner', 'request-payer', ...customerKeyHeaders],
      },
    },
    answer: {
      supported: {
        element: [
          'CompleteMultipartUploadResult',
          ...within('CompleteMultipartUploadResult', 'Location', 'Bucket', 'Key', 'ETag'),
        ],
      },
      'not-supported': {
        element: within('CompleteMultipartUploadResult', ...checksumElements),
        vendor: ['expiration', 'request-charged', ...encryptionHeaders, 'version-id'],
      },
    },
  },
}
