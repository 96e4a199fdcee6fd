/** The key ring as text: what is written is read again, what is wrong is said, and no message holds a secret. */
import { describe, expect, it } from 'vitest'
import {
  formatKeyRing,
  isKeyName,
  KeyRingInvalid,
  keyRing,
  parseKeyRing,
  ringKey,
  withKeysFor,
  withNewKey,
} from '../../src/encryption/key-ring.ts'
import { patternBytes } from '../support/seeded.ts'

const secret = (seed: number): Buffer => patternBytes(seed, 32)
const base64 = (seed: number): string => secret(seed).toString('base64')
const names = (text: string): string[] => parseKeyRing(text).keys.map(({ name }) => name)

describe('a key ring', () => {
  it('is read as it was written, the newest key of a name first', () => {
    const made = withKeysFor(keyRing([]), ['sse-s3', 'aws/s3'], (bytes) => patternBytes(bytes, bytes))
    const ring = withNewKey(made, 'sse-s3', () => secret(1))
    const again = parseKeyRing(formatKeyRing(ring))
    expect(again.keys).toEqual(ring.keys)
    expect(again.newest('sse-s3')?.secret).toEqual(secret(1))
    const [older] = made.keys.filter(({ name }) => name === 'sse-s3')
    expect(again.find('sse-s3', older?.id ?? '')).toEqual(older)
    expect(again.find('aws/s3', older?.id ?? '')?.secret).not.toEqual(secret(1))
    expect(again.newest('other')).toBeUndefined()
  })

  it.each<[what: string, text: string, expected: string[]]>([
    ['lines', `a ${base64(1)}\nb ${base64(2)}\n`, ['a', 'b']],
    ['lines of another system', `a ${base64(1)}\r\nb ${base64(2)}\r\n`, ['a', 'b']],
    ['entries by comma, as a variable has them', `a:${base64(1)},b:${base64(2)}`, ['a', 'b']],
    ['comments, commas in them or not', `# one, two\n  # three\na ${base64(1)}\n`, ['a']],
    ['empty lines', `\n\n  a   ${base64(1)}  \n\n`, ['a']],
    ['nothing', '', []],
  ])('is read from %s', (_what, text, expected) => {
    expect(names(text)).toEqual(expected)
  })

  it.each<[what: string, text: string, message: RegExp]>([
    ['a name alone', 'a', /secret of key 1 /],
    ['a short secret', `a ${secret(7).subarray(0, 31).toString('base64')}`, /secret of key 1 is not 32 bytes/],
    ['a long secret', `a ${Buffer.concat([secret(7), secret(8)]).toString('base64')}`, /secret of key 1 /],
    ['a secret in hex', `a ${secret(7).toString('hex')}`, /secret of key 1 /],
    ['a secret without its padding', `a ${base64(7).replace('=', '')}`, /secret of key 1 /],
    ['the second key wrong', `a ${base64(1)}\nb ${base64(7)}x`, /secret of key 2 /],
    ['name and secret exchanged', `${base64(7)} a`, /key 1 /],
    ['a secret in hex alone', secret(7).toString('hex'), /key 1 /],
    ['name and hex secret exchanged', `${secret(7).toString('hex')} a`, /key 1 /],
    ['three words', `a b ${base64(7)}`, /key 1 is not 'NAME SECRET'/],
    ['a name that is none', `-a ${base64(7)}`, /key 1 is not/],
  ])('is refused for %s, without telling the secret', (_what, text, message) => {
    const read = (): unknown => parseKeyRing(text)
    expect(read).toThrow(KeyRingInvalid)
    expect(read).toThrow(message)
    const told = messageOf(read)
    for (const form of ['base64', 'hex'] as const) expect(told).not.toContain(secret(7).toString(form).slice(0, 12))
  })

  it.each([
    ['aws/s3', true],
    ['k', true],
    ['Invoices_2026-a', true],
    ['a'.repeat(64), true],
    ['a'.repeat(65), false],
    ['', false],
    ['/a', false],
    ['a b', false],
    ['a:b', false],
    ['ä', false],
  ])('has a key named %j: %s', (name, is) => {
    expect(isKeyName(name)).toBe(is)
  })

  it('tells keys apart by ids that reveal nothing', () => {
    const { id } = ringKey('a', secret(1))
    expect(id).toMatch(/^[0-9a-f]{16}$/)
    expect(secret(1).toString('hex')).not.toContain(id)
    expect(ringKey('a', secret(2)).id).not.toBe(id)
    expect(ringKey('b', secret(1)).id).toBe(id)
  })

  it('makes only the keys that it lacks', () => {
    const ring = keyRing([ringKey('a', secret(1))])
    expect(withKeysFor(ring, ['a'], () => secret(2)).keys).toEqual(ring.keys)
    expect(withKeysFor(ring, ['a', 'b', 'b'], () => secret(2)).keys.map(({ name }) => name)).toEqual(['b', 'a'])
  })
})

function messageOf(work: () => unknown): string {
  try {
    work()
    return ''
  } catch (error) {
    return String(error)
  }
}
