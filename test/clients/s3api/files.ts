/** What the calls upload, by file name, and what is known of it without the server. */
import { createHash } from 'node:crypto'
import { limits } from '../../../src/limits.ts'
import { patternBytes } from '../../support/seeded.ts'

const digits = Buffer.from('123456789')
const letters = Buffer.from('abcdefgh')
const largePart = patternBytes(1, limits.partBytesMin)
const smallPart = patternBytes(2, 100)

export const files: Readonly<Record<string, Uint8Array>> = {
  digits,
  letters,
  'large-part': largePart,
  'small-part': smallPart,
}

const digest = (algorithm: string, ...data: Uint8Array[]): Buffer =>
  data.reduce((hash, piece) => hash.update(piece), createHash(algorithm)).digest()
const base64 = (algorithm: string, ...data: Uint8Array[]): string => digest(algorithm, ...data).toString('base64')
const etag = (data: Uint8Array): string => `"${digest('md5', data).toString('hex')}"`

export const etags = {
  digits: etag(digits),
  letters: etag(letters),
  largePart: etag(largePart),
  smallPart: etag(smallPart),
  parts: `"${digest('md5', digest('md5', largePart), digest('md5', smallPart)).toString('hex')}-2"`,
}

export const digitsSums = {
  md5: base64('md5', digits),
  /** 0xcbf43926, the check value that catalogues of CRCs give for these nine digits. */
  crc32: 'y/Q5Jg==',
  sha1: base64('sha1', digits),
  sha256: base64('sha256', digits),
}

export const sha256 = {
  letters: base64('sha256', letters),
  largePart: base64('sha256', largePart),
  smallPart: base64('sha256', smallPart),
  parts: `${base64('sha256', digest('sha256', largePart), digest('sha256', smallPart))}-2`,
}
