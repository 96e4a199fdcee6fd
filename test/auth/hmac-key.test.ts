import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { HmacKey } from '../../src/auth/hmac-key.ts'

describe('an HMAC key', () => {
  it('signs as RFC 4231 says', () => {
    const signed = new HmacKey(Buffer.from('Jefe')).sign('what do ya want for nothing?')
    expect(signed).toBe('5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843')
  })

  it('signs texts of any length as Node does, whatever it signed before', () => {
    for (const bytes of [1, 32, 63, 64]) {
      const key = Buffer.alloc(bytes, 0xa7)
      const signer = new HmacKey(key)
      for (const length of [0, 1, 63, 64, 5000, 200, 512, 513, 0]) {
        const text = 'x\xe9'.repeat(length).slice(0, length)
        const expected = createHmac('sha256', key).update(text, 'latin1').digest('hex')
        expect(signer.sign(text), `${bytes} bytes of key, ${length} of text`).toBe(expected)
      }
    }
  })

  it('refuses a key that RFC 2104 would hash first', () => {
    expect(() => new HmacKey(Buffer.alloc(65))).toThrow(RangeError)
  })
})
