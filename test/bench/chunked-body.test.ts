import { describe, expect, it } from 'vitest'
import { ChunkedBody } from '../../bench/load/chunked-body.ts'

const body = '5\r\nhello\r\n1a;name=value\r\n0\r\n\r\nabcdefghijklmnopqrstu\r\n0\r\nTrailer: x\r\n\r\n'

describe('a body in chunks', () => {
  it.each([1, 2, 3, 7, body.length])('ends where it ends, read %d bytes at a time', (pieceBytes) => {
    const chunked = new ChunkedBody()
    const ends: boolean[] = []
    for (let at = 0; at < body.length; at += pieceBytes) {
      ends.push(chunked.take(Buffer.from(body.slice(at, at + pieceBytes))))
    }
    expect(ends.indexOf(true)).toBe(ends.length - 1)
    expect(chunked.dataBytes).toBe(31)
  })

  it('is refused when it is none', () => {
    expect(() => new ChunkedBody().take(Buffer.from('<html>\r\n'))).toThrow('size')
  })
})
