/** A body in AWS's chunked framing with its CRC-32 as a trailer, for a body that is not known before it is sent. */
import { pipeline, type Readable, Transform } from 'node:stream'
import { createDigest } from '../checksums/checksums.ts'

const trailer = 'x-amz-checksum-crc32'

/** What the request says about such a body. `size`: of the data. */
export const trailingHeaders = (size: number, contentEncoding: string | undefined): Record<string, string> => ({
  'content-encoding': contentEncoding === undefined ? 'aws-chunked' : `${contentEncoding},aws-chunked`,
  'x-amz-decoded-content-length': `${size}`,
  'x-amz-trailer': trailer,
})

export const trailingPayload = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER'

/** The body on the wire. It fails as `data` fails. */
export function withTrailingDigest(data: Readable): Readable {
  const digest = createDigest('CRC32')
  const framed = new Transform({
    transform(piece: Buffer, _encoding, done) {
      digest.update(piece)
      this.push(`${piece.length.toString(16)}\r\n`)
      this.push(piece)
      done(null, '\r\n')
    },
    flush(done) {
      done(null, `0\r\n${trailer}:${digest.digest().toString('base64')}\r\n\r\n`)
    },
  })
  // The reader of the framed body sees the failure.
  pipeline(data, framed, () => {})
  return framed
}
