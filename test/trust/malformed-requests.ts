/** Requests that no client would send, made from a seed: signed ones of hostile parts, and signed ones whose bytes were changed on the way. */

import { type HeaderPair, presign, type SigningKey, sign, signStreaming } from '../support/signer.ts'
import { requestBytes } from '../support/wire-raw.ts'

export interface Target {
  host: string
  key: SigningKey
  bucket: string
}

const methods = ['GET', 'PUT', 'POST', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH']
const keys = [
  '',
  'a',
  'a/../b',
  '%2e%2e/x',
  '%00',
  '%ff%fe',
  'a%2Fb',
  '//',
  `${'k'.repeat(1024)}`,
  '\\..\\x',
  '%F0%9F%98%80',
  '?',
  'a b',
  '%',
]
const parameters = [
  ...[
    'acl',
    'tagging',
    'versions',
    'versioning',
    'uploads',
    'uploadId',
    'partNumber',
    'versionId',
    'retention',
    'legal-hold',
  ],
  ...[
    'object-lock',
    'encryption',
    'location',
    'policy',
    'delete',
    'list-type',
    'max-keys',
    'prefix',
    'delimiter',
    'marker',
  ],
  ...[
    'continuation-token',
    'start-after',
    'encoding-type',
    'key-marker',
    'version-id-marker',
    'attributes',
    'select',
    'restore',
  ],
  ...['response-content-type', 'response-content-disposition', 'x-id', 'fetch-owner', 'upload-id-marker', 'max-parts'],
]
const values = [
  '',
  '0',
  '1',
  '-1',
  '10001',
  '99999999999999999999',
  '1e3',
  'NaN',
  'null',
  'true',
  '/',
  '%',
  '\u0000',
  '\u20ac',
  '../..',
  'a'.repeat(2000),
  '2',
  'url',
]
const headerNames = [
  ...[
    'Range',
    'If-Match',
    'If-None-Match',
    'If-Modified-Since',
    'Content-MD5',
    'Content-Type',
    'Content-Encoding',
    'Expect',
  ],
  ...[
    'Content-Disposition',
    'Expires',
    'Cache-Control',
    'Origin',
    'X-Forwarded-For',
    'TE',
    'Upgrade',
    'Trailer',
    'Date',
  ],
  ...[
    'copy-source',
    'copy-source-range',
    'metadata-directive',
    'tagging',
    'acl',
    'storage-class',
    'meta-x',
    'website-redirect-location',
  ].map((name) => `x-amz-${name}`),
  ...[
    'checksum-crc32',
    'checksum-sha256',
    'sdk-checksum-algorithm',
    'checksum-mode',
    'object-lock-mode',
    'object-ownership',
  ].map((name) => `x-amz-${name}`),
  ...[
    'server-side-encryption',
    'server-side-encryption-customer-key',
    'object-lock-retain-until-date',
    'mfa',
    'request-payer',
  ].map((name) => `x-amz-${name}`),
  ...['copy-source', 'version-id', 'expected-bucket-owner', 'bypass-governance-retention', 'object-size'].map(
    (name) => `x-store-${name}`,
  ),
]
const headerValues = [
  ...[
    '',
    '*',
    '"',
    '""',
    'bytes=0-',
    'bytes=-0',
    'bytes=5-1',
    'bytes=0-0,2-3',
    'bytes=99999999999999999999-',
    'Thu, 32 Foo 2026',
  ],
  ...[
    '/bucket/a',
    'bucket/%00',
    '/',
    'AES256',
    'aws:kms',
    'COMPLIANCE',
    'AAAA',
    '====',
    'k=v&k=v',
    '%',
    'x'.repeat(3000),
    '\xe4\xff',
    'a,b;c',
  ],
  ...[
    '100-continue',
    'gzip',
    'aws-chunked',
    'CRC32',
    'COPY',
    'REPLACE',
    '2099-01-01T00:00:00Z',
    '-1',
    '0',
    'enabled',
    'true',
  ],
]
const bodies = [
  ...[
    '',
    'x',
    '<',
    '<a>',
    '<a/>',
    '<!DOCTYPE a><a/>',
    '<?xml version="1.0"?><Delete/>',
    '<Delete><Object><Key></Key></Object></Delete>',
  ],
  ...[
    '<Tagging><TagSet><Tag><Key>a</Key></Tag></TagSet></Tagging>',
    '<CompleteMultipartUpload><Part/></CompleteMultipartUpload>',
  ],
  ...[
    '<a>'.repeat(200),
    '<a b="&lt;" b="2"/>',
    '<a>&#x0;&#xffffffff;</a>',
    '<Retention><Mode>X</Mode></Retention>',
    `<a>${'y'.repeat(5000)}</a>`,
  ],
  ...[
    '<LegalHold><Status>ON</Status></LegalHold>',
    '\u0000\u0001',
    '{"json":true}',
    '<VersioningConfiguration><Status>On</Status></VersioningConfiguration>',
  ],
]

/** What a server parses must meet, between, before and in the place of what it expects. */
const insertions = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  '\t',
  ':',
  '%',
  '%0',
  '\xff',
  '"',
  ',',
  ';',
  '0',
  '-',
  '/',
  '..',
  'Host: other\r\n',
  'Content-Length: 5\r\n',
]
const furtherInsertions = [
  'Transfer-Encoding: chunked\r\n',
  'Expect: 100-continue\r\n',
  '\r\n\r\nGET / HTTP/1.1\r\n',
  '0\r\n\r\n',
  'x'.repeat(4096),
]

export class MalformedRequests {
  readonly #random: () => number
  readonly #target: Target

  constructor(random: () => number, target: Target) {
    this.#random = random
    this.#target = target
  }

  next(): Buffer {
    const bytes = this.#signed()
    // Half of them reach what lies behind the signature.
    return this.#random() < 0.5 ? bytes : this.#mutated(bytes)
  }

  #pick<T>(from: readonly T[]): T {
    const picked = from[Math.floor(this.#random() * from.length)]
    if (picked === undefined) throw new Error('nothing to pick from')
    return picked
  }

  /** Mostly none or one: of many hostile parts, only the first is met. */
  #several<T>(most: number, make: () => T): T[] {
    return Array.from({ length: Math.floor(this.#random() ** 2 * (most + 1)) }, make)
  }

  #signed(): Buffer {
    const { host, bucket, key } = this.#target
    const method = this.#pick(methods)
    const path =
      this.#random() < 0.9
        ? `/${bucket}/${this.#random() < 0.5 ? 'a' : this.#pick(keys)}`
        : this.#pick(['/', '//', '/a', '/A_B', '*', '/%'])
    const query = this.#several(3, (): HeaderPair => [this.#pick(parameters), this.#pick(values)])
    const headers = this.#several(3, (): HeaderPair => [this.#pick(headerNames), this.#pick(headerValues)])
    const body = method === 'PUT' || method === 'POST' ? this.#pick(bodies) : ''
    const request = { method, host, path, query, headers, body }
    const prefix = this.#random() < 0.8 ? 'x-amz-' : 'x-store-'
    const how = this.#random()
    if (how < 0.2)
      return requestBytes(presign(request, { key, prefix, expiresSeconds: this.#pick([300, 0, -1, 604_801, 'x']) }))
    if (how < 0.4 && body !== '') {
      const mode = this.#pick(['signed', 'signed-trailer', 'unsigned-trailer'] as const)
      const trailers: HeaderPair[] =
        mode === 'signed' ? [] : [[this.#pick(headerNames).toLowerCase(), this.#pick(headerValues)]]
      return requestBytes(signStreaming(request, { key, prefix, mode, chunks: [body, this.#pick(bodies)], trailers }))
    }
    return requestBytes(sign(request, { key, prefix }))
  }

  #mutated(bytes: Buffer): Buffer {
    let mutated = bytes
    for (let times = 1 + Math.floor(this.#random() * 3); times > 0; times--) mutated = this.#mutatedOnce(mutated)
    return mutated
  }

  #mutatedOnce(bytes: Buffer): Buffer {
    // Mostly in the head.
    const at = Math.floor(this.#random() * (this.#random() < 0.8 ? Math.min(bytes.length, 400) : bytes.length))
    const length = Math.floor(this.#random() * 20)
    const dice = this.#random()
    const [before, behind] = [bytes.subarray(0, at), bytes.subarray(at)]
    if (dice < 0.25) {
      const flipped = Buffer.from(bytes)
      if (at < flipped.length) flipped[at] = (flipped[at] ?? 0) ^ (1 << Math.floor(this.#random() * 8))
      return flipped
    }
    if (dice < 0.6) return Buffer.concat([before, this.#insertion(), behind])
    if (dice < 0.75) return Buffer.concat([before, behind.subarray(length)])
    if (dice < 0.85) return Buffer.concat([before, behind.subarray(0, length), behind])
    if (dice < 0.95) return before
    // Another request behind it.
    return Buffer.concat([bytes, this.#signed()])
  }

  #insertion(): Buffer {
    return Buffer.from(this.#pick([...insertions, ...furtherInsertions]), 'latin1')
  }
}
