// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policy variables look like placeholders
import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canStartWith, compileGlob, parsePattern } from '../../src/access/glob.ts'

const tokens = (pattern: string) => parsePattern(pattern, { variables: true, wildcards: true })
const matches = (pattern: string, text: string, values: Record<string, string> = {}): boolean =>
  compileGlob(tokens(pattern))(text, (key) => values[key])

describe('a pattern', () => {
  it.each([
    ['', '', true],
    ['', 'a', false],
    ['*', '', true],
    ['a*', 'a', true],
    ['a*', 'ba', false],
    ['*a', 'bba', true],
    ['*a', 'bab', false],
    ['a*b*c', 'aXbXbXc', true],
    ['a*b*c', 'aXbXb', false],
    ['?', '', false],
    ['?', '😀', true],
    ['??', '😀', false],
    ['*??', '😀', false],
    ['*?', '😀', true],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['**a**', 'a', true],
    ['a.c', 'abc', false],
    ['[a-z]', 'b', false],
    ['a*', 'a\nb/c', true],
    ['${*}', '*', true],
    ['${*}', 'a', false],
    ['a${?}', 'a?', true],
    ['a${?}', 'ab', false],
    ['${$}{aws:username}', '${aws:username}', true],
  ])('%j matches %j: %s', (pattern, text, expected) => {
    expect(matches(pattern, text)).toBe(expected)
  })

  it('takes the value of a variable as it is, stars and all', () => {
    expect(matches('home/${aws:username}/*', 'home/ann/a', { 'aws:username': 'ann' })).toBe(true)
    expect(matches('home/${aws:username}/*', 'home/bob/a', { 'aws:username': 'ann' })).toBe(false)
    expect(matches('home/${aws:username}', 'home/bob', { 'aws:username': '*' })).toBe(false)
    expect(matches('home/${aws:username}', 'home/*', { 'aws:username': '*' })).toBe(true)
  })

  it('matches nothing while a variable has neither a value nor a default', () => {
    expect(matches('*${aws:username}*', 'anything')).toBe(false)
    expect(matches("${aws:username, 'nobody'}", 'nobody')).toBe(true)
    expect(matches("${aws:username,'nobody'}", 'ann', { 'aws:username': 'ann' })).toBe(true)
  })

  it.each(['${aws:username', '${aws:username, nobody}', "${aws:username, '}"])('is refused: %s', (pattern) => {
    expect(() => tokens(pattern)).toThrow('policy variable')
  })

  it('matches what a regular expression matches', () => {
    const chars = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?', '.'), maxLength: 9 })
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '.', '/'), maxLength: 9 })
    fc.assert(
      fc.property(chars, text, (pattern, given) => {
        const source = pattern.replace(/[.*?]/g, (char) => ({ '.': '\\.', '*': '.*', '?': '.' })[char] ?? char)
        expect(matches(pattern, given)).toBe(new RegExp(`^${source}$`, 's').test(given))
      }),
      { numRuns: 2000 },
    )
  })

  it('can start with what some text that it matches starts with', () => {
    const chars = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), maxLength: 7 })
    const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 7 })
    fc.assert(
      fc.property(chars, text, text, (pattern, start, rest) => {
        if (matches(pattern, start + rest)) expect(canStartWith(tokens(pattern), start)).toBe(true)
      }),
      { numRuns: 2000 },
    )
    expect(canStartWith(tokens('abc*'), 'abd')).toBe(false)
    expect(canStartWith(tokens('a?c*z'), 'ab')).toBe(true)
    expect(canStartWith(tokens('a?c*z'), 'abcd')).toBe(true)
    expect(canStartWith(tokens('a?c'), 'bb')).toBe(false)
    expect(canStartWith(tokens('ab'), 'abc')).toBe(false)
    expect(canStartWith(tokens('a${aws:username}'), 'axyz')).toBe(true)
  })

  it('finds a long piece behind a star, whatever stands in it', () => {
    const piece = `${'ab?'.repeat(40)}c`
    expect(matches(`*${piece}*z`, `${'ab'.repeat(100)}${'abX'.repeat(40)}c--z`)).toBe(true)
    expect(matches(`*${piece}*z`, `${'ab'.repeat(100)}${'abX'.repeat(39)}c--z`)).toBe(false)
    const literal = '0123456789abcdefghijklmnopqrstuvwxyz'.repeat(3)
    expect(matches(`a*${literal}*`, `a${literal}${literal}`)).toBe(true)
    expect(matches(`a*${literal}*`, `a${literal.slice(1)}${literal.slice(0, 30)}`)).toBe(false)
  })

  it('is compared with one text after the other', () => {
    const patterns = ['a?*b?c*', 'a*b*c', '${aws:username}?*b', `*${'a?'.repeat(20)}b*`]
    const matchers = patterns.map((pattern) => compileGlob(tokens(pattern)))
    const texts = ['axbyc', 'abc', 'annx--b', 'aaa', 'ax'.repeat(20).concat('b'), 'ay'.repeat(20).concat('b')]
    for (let round = 0; round < 2; round++) {
      for (const text of texts) {
        const found = matchers.map((matcher) => matcher(text, () => 'ann'))
        expect(found).toEqual(patterns.map((pattern) => matches(pattern, text, { 'aws:username': 'ann' })))
      }
    }
    expect(matchers.map((matcher) => texts.filter((text) => matcher(text, () => 'ann')).length)).toEqual([1, 2, 1, 2])
  })

  it('has no text that makes it slow', () => {
    const text = 'a'.repeat(1024)
    const costly = [`${'a*'.repeat(500)}b`, `*${'a'.repeat(511)}?b*`, `*b${'a'.repeat(511)}*`, `*${'a'.repeat(511)}b*`]
    for (const pattern of costly) expect(matches(pattern, `${text}c`)).toBe(false)
    const matchers = costly.map((pattern) => compileGlob(tokens(pattern)))
    const cpuMs = (work: () => void): number => {
      const began = process.cpuUsage()
      for (let i = 0; i < 20; i++) work()
      const { user, system } = process.cpuUsage(began)
      return (user + system) / 1000
    }
    /** The least of some: what else the machine does adds to all others. */
    const least = (work: () => void): number => Math.min(...Array.from({ length: 5 }, () => cpuMs(work)))
    let turn = 0
    const matched = least(() => {
      // Not the same text twice, because a matcher knows the last one.
      const other = `${text}${turn++}`
      for (const matcher of matchers) matcher(other, () => undefined)
    })
    const mebibyte = new Uint8Array(1 << 20)
    const hashed = least(() => createHash('md5').update(mebibyte).digest())
    // It takes half as long. Each letter compared at each place would take ten times that.
    expect(matched / hashed).toBeLessThan(3)
  })
})
