/** Objects whose fields lie in runs: what is appended later leaves the bytes of before as they were. */
import { describe, expect, it } from 'vitest'
import { PackReader, PackWriter } from '../../src/records/packed-bytes.ts'
import { number, type Packed, packedRuns, text } from '../../src/records/packed-fields.ts'

interface Thing {
  name: string
  inner: { first?: string; later?: string }
  size?: number
}

const runs = [
  { fields: { name: text } },
  { of: 'inner', fields: { first: text } },
  { fields: { size: number } },
] as const
const before = packedRuns<Thing>(runs)
const now = packedRuns<Thing>([...runs, { of: 'inner', fields: { later: text } }])

function bytesOf(packed: Packed<Thing>, thing: Thing): string {
  const writer = new PackWriter()
  packed.write(writer, thing)
  return writer.written().toString('hex')
}

const readOf = (packed: Packed<Thing>, bytes: string): Thing => packed.read(new PackReader(Buffer.from(bytes, 'hex')))

describe('fields in runs', () => {
  const old: Thing = { name: 'a', inner: { first: 'b' }, size: 3 }

  it('lie in the order of the runs, an inner object’s among the others', () => {
    expect(bytesOf(before, old)).toBe('07016101' + '6203')
  })

  it('have the same bytes without a field that came later, which read as before', () => {
    expect(bytesOf(now, old)).toBe(bytesOf(before, old))
    expect(readOf(now, bytesOf(before, old))).toEqual(old)
  })

  it('are read with it', () => {
    const thing = { ...old, inner: { first: 'b', later: 'c' } }
    expect(readOf(now, bytesOf(now, thing))).toEqual(thing)
  })

  it('give an inner object of which nothing was said', () => {
    expect(readOf(now, bytesOf(now, { name: 'a', inner: {} }))).toEqual({ name: 'a', inner: {} })
  })

  it('are refused by who does not know all of them', () => {
    const bytes = bytesOf(now, { ...old, inner: { later: 'c' } })
    expect(() => readOf(before, bytes)).toThrow('a field that is not known')
  })
})
