/** The names that the interface document has for the operations on objects, on their tags and their legal holds. */
import {
  aclHeaders,
  checksumHeaders,
  customerKeyAnswers,
  customerKeyHeaders,
  type DocumentedOperations,
  encryptionHeaders,
  lockHeaders,
  ofObject,
  within,
} from './named.ts'

const tagElements = within('Tagging/TagSet', 'Tag', 'Tag/Key', 'Tag/Value')

const read = {
  supported: ofObject,
  'not-supported': {
    header: ['If-Match', 'If-Modified-Since', 'If-None-Match', 'If-Unmodified-Since', 'Range'],
    vendor: ['checksum-mode', 'expected-bucket-owner', 'request-payer', ...customerKeyHeaders],
    query: [
      'partNumber',
      'versionId',
      'response-cache-control',
      'response-content-disposition',
      'response-content-encoding',
      'response-content-language',
      'response-content-type',
      'response-expires',
    ],
  },
} as const

/** What GetObject and HeadObject both return. */
const readHeaders = [
  'Cache-Control',
  'Content-Disposition',
  'Content-Encoding',
  'Content-Language',
  'Content-Length',
  'Content-Type',
  'ETag',
  'Expires',
  'Last-Modified',
  'accept-ranges',
] as const
const readVendorHeaders = [
  ...checksumHeaders,
  'delete-marker',
  'expiration',
  'missing-meta',
  'mp-parts-count',
  ...lockHeaders,
  'replication-status',
  'request-charged',
  'restore',
  ...encryptionHeaders,
  ...customerKeyAnswers,
  'storage-class',
  'version-id',
  'website-redirect-location',
] as const

export const objectOperations: DocumentedOperations = {
  GetObject: {
    request: read,
    answer: {
      unflagged: { data: ['body'] },
      'not-supported': {
        header: [...readHeaders, 'Content-Range'],
        vendor: [...readVendorHeaders, 'tagging-count'],
      },
    },
  },
  HeadObject: {
    request: read,
    answer: { 'not-supported': { header: readHeaders, vendor: [...readVendorHeaders, 'archive-status'] } },
  },
  PutObject: {
    request: {
      supported: {
        ...ofObject,
        header: [
          'Content-Disposition',
          'Content-Length',
          'Content-MD5',
          'Expires',
          'Cache-Control',
          'Content-Encoding',
          'Content-Language',
          'Content-Type',
        ],
      },
      unflagged: { data: ['body'] },
      'not-supported': {
        header: ['If-None-Match'],
        vendor: [
          ...aclHeaders,
          ...checksumHeaders,
          'expected-bucket-owner',
          ...lockHeaders,
          'request-payer',
          'sdk-checksum-algorithm',
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
      'not-supported': {
        header: ['ETag'],
        vendor: [
          ...checksumHeaders,
          'expiration',
          'request-charged',
          ...encryptionHeaders,
          'server-side-encryption-context',
          ...customerKeyAnswers,
          'version-id',
        ],
      },
    },
  },
  DeleteObject: {
    request: {
      supported: ofObject,
      'not-supported': {
        query: ['versionId'],
        vendor: ['bypass-governance-retention', 'expected-bucket-owner', 'mfa', 'request-payer'],
      },
    },
    answer: { 'not-supported': { vendor: ['delete-marker', 'version-id', 'request-charged'] } },
  },
  GetObjectLegalHold: {
    request: {
      supported: ofObject,
      'not-supported': { query: ['versionId'], vendor: ['expected-bucket-owner', 'request-payer'] },
    },
    answer: { unflagged: { element: ['LegalHold', 'LegalHold/Status'] } },
  },
  PutObjectLegalHold: {
    request: {
      supported: { ...ofObject, element: ['LegalHold', 'LegalHold/Status'] },
      'not-supported': {
        header: ['Content-MD5'],
        query: ['versionId'],
        vendor: ['expected-bucket-owner', 'request-payer', 'sdk-checksum-algorithm'],
      },
    },
    answer: { 'not-supported': { vendor: ['request-charged'] } },
  },
  DeleteObjectTagging: {
    request: {
      unflagged: { ...ofObject, query: ['versionId'] },
      'not-supported': { vendor: ['expected-bucket-owner'] },
    },
    answer: { unflagged: { vendor: ['version-id'] } },
  },
  GetObjectTagging: {
    request: {
      supported: ofObject,
      'not-supported': { query: ['versionId'], vendor: ['expected-bucket-owner', 'request-payer'] },
    },
    answer: {
      unflagged: { element: ['Tagging', 'Tagging/TagSet', ...tagElements] },
      'not-supported': { vendor: ['version-id'] },
    },
  },
  PutObjectTagging: {
    request: {
      supported: { ...ofObject, header: ['Content-MD5'], element: ['Tagging', 'Tagging/TagSet'] },
      unflagged: { element: tagElements },
      'not-supported': {
        query: ['versionId'],
        vendor: ['expected-bucket-owner', 'request-payer', 'sdk-checksum-algorithm'],
      },
    },
    answer: { 'not-supported': { vendor: ['version-id'] } },
  },
}
