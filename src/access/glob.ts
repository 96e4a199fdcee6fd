/** The patterns in policies: `*` matches any characters, `?` matches one, and `${key}` stands for a value of the request. */

export type PatternToken =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'any' }
  | { readonly kind: 'one' }
  | { readonly kind: 'variable'; readonly key: string; readonly fallback: string | undefined }

/** Returns a value of the request; `undefined` when it has none or several. */
export type Lookup = (key: string) => string | undefined

export class PatternError extends Error {}

/**
 * The policy's version decides whether there are variables. Only resources and some operators have wildcards.
 * @throws PatternError for a variable without its closing brace, or with a malformed default.
 */
export function parsePattern(text: string, options: { variables: boolean; wildcards: boolean }): PatternToken[] {
  const tokens: PatternToken[] = []
  let plain = ''
  const push = (token: PatternToken): void => {
    if (plain !== '') tokens.push({ kind: 'text', text: plain })
    plain = ''
    tokens.push(token)
  }
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at)
    if (options.wildcards && char === '*') {
      // Several stars in a row mean the same as one, and would cost more.
      if (plain !== '' || tokens.at(-1)?.kind !== 'any') push({ kind: 'any' })
    } else if (options.wildcards && char === '?') push({ kind: 'one' })
    else if (options.variables && char === '$' && text[at + 1] === '{') {
      const end = text.indexOf('}', at + 2)
      if (end < 0) throw new PatternError('a policy variable does not end')
      const inside = text.slice(at + 2, end)
      // `${*}`, `${?}` and `${$}` are the escapes of these characters.
      if (inside === '*' || inside === '?' || inside === '$') plain += inside
      else push(parseVariable(inside))
      at = end
    } else plain += char
  }
  if (plain !== '') tokens.push({ kind: 'text', text: plain })
  return tokens
}

/** `aws:username`, or `aws:username, 'nobody'`. */
function parseVariable(inside: string): PatternToken {
  const comma = inside.indexOf(',')
  if (comma < 0) return { kind: 'variable', key: inside.trim(), fallback: undefined }
  const fallback = inside.slice(comma + 1).trim()
  if (fallback.length < 2 || !fallback.startsWith("'") || !fallback.endsWith("'"))
    throw new PatternError('the default of a policy variable must stand in single quotes')
  return { kind: 'variable', key: inside.slice(0, comma).trim(), fallback: fallback.slice(1, -1) }
}

export const hasVariable = (tokens: readonly PatternToken[]): boolean => tokens.some(({ kind }) => kind === 'variable')

export const hasWildcard = (tokens: readonly PatternToken[]): boolean =>
  tokens.some(({ kind }) => kind === 'any' || kind === 'one')

/** The text that the tokens stand for, with wildcards as written. `undefined` if a variable has no value; then nothing matches. */
export function textOf(tokens: readonly PatternToken[], lookup: Lookup): string | undefined {
  let text = ''
  for (const token of tokens) {
    if (token.kind === 'any') text += '*'
    else if (token.kind === 'one') text += '?'
    else if (token.kind === 'text') text += token.text
    else {
      const value = lookup(token.key) ?? token.fallback
      if (value === undefined) return undefined
      text += value
    }
  }
  return text
}

export type GlobMatcher = (text: string, lookup: Lookup) => boolean

/** Compiles a test of whether a whole text matches. Wildcards in a variable's value match only themselves. */
export function compileGlob(tokens: readonly PatternToken[]): GlobMatcher {
  if (hasVariable(tokens)) return compileTemplate(tokens)
  const [first, second] = tokens
  if (first === undefined) return (text) => text === ''
  if (second === undefined && first.kind === 'any') return () => true
  if (second === undefined && first.kind === 'text') return (text) => text === first.text
  if (tokens.length === 2 && first.kind === 'text' && second?.kind === 'any')
    return (text) => text.startsWith(first.text)
  const segments = splitAtStars(tokens).map((parts) => segmentOf(parts, noValues) ?? nothing)
  if (tokens.some(({ kind }) => kind === 'one')) return remembering((text) => matchesSegments(segments, text))
  const pieces = segments.map(({ codes }) => String.fromCodePoint(...codes))
  return remembering((text) => matchesPieces(pieces, text))
}

/** A condition is often asked about the same value many times in a row: for each of the keys that one request deletes. */
function remembering(test: (text: string) => boolean): GlobMatcher {
  let last: { text: string; matches: boolean } | undefined
  return (text) => {
    if (last?.text !== text) last = { text, matches: test(text) }
    return last.matches
  }
}

/** The characters between two stars, with `mark` for `?`. */
interface Segment {
  readonly codes: readonly number[]
  /** Computed when it is first looked for. */
  masks?: Masks
}

type SegmentToken = Exclude<PatternToken, { kind: 'any' }>

const mark = -1
const nothing: Segment = { codes: [] }
const noValues: Lookup = () => undefined

function compileTemplate(tokens: readonly PatternToken[]): GlobMatcher {
  const segments = splitAtStars(tokens).map((parts) => {
    const fixed = hasVariable(parts) ? undefined : (segmentOf(parts, noValues) ?? nothing)
    return (lookup: Lookup) => fixed ?? segmentOf(parts, lookup)
  })
  return (text, lookup) => {
    const filled: Segment[] = []
    for (const fill of segments) {
      const segment = fill(lookup)
      if (segment === undefined) return false
      filled.push(segment)
    }
    return matchesSegments(filled, text)
  }
}

/** At least one group, because a pattern without stars is one. */
function splitAtStars(tokens: readonly PatternToken[]): SegmentToken[][] {
  const groups: SegmentToken[][] = [[]]
  for (const token of tokens) {
    if (token.kind === 'any') groups.push([])
    else groups.at(-1)?.push(token)
  }
  return groups
}

/** `undefined`: a variable has no value. */
function segmentOf(tokens: readonly SegmentToken[], lookup: Lookup): Segment | undefined {
  const codes: number[] = []
  for (const token of tokens) {
    if (token.kind === 'one') codes.push(mark)
    else {
      const text = token.kind === 'text' ? token.text : (lookup(token.key) ?? token.fallback)
      if (text === undefined) return undefined
      for (const code of codePointsOf(text)) codes.push(code)
    }
  }
  return { codes }
}

/** Code points, because `?` matches one. */
function codePointsOf(text: string): number[] {
  return Array.from(text, (char) => char.codePointAt(0) ?? 0)
}

/** All patterns of a policy are compared with the same resource, so it is taken apart once. */
let comparedLast: { text: string; codes: readonly number[] } = { text: '', codes: [] }

function codesOfCompared(text: string): readonly number[] {
  if (comparedLast.text !== text) comparedLast = { text, codes: codePointsOf(text) }
  return comparedLast.codes
}

/** The first segment must be at the start and the last at the end. Each other one takes the first place that fits, which leaves the most room for later ones. */
function matchesSegments(segments: readonly Segment[], text: string): boolean {
  const codes = codesOfCompared(text)
  const [first = nothing, ...others] = segments
  const last = others.pop()
  if (last === undefined) return first.codes.length === codes.length && matchesAt(first, codes, 0)
  const end = codes.length - last.codes.length
  let at = first.codes.length
  if (at > end || !matchesAt(first, codes, 0) || !matchesAt(last, codes, end)) return false
  for (const segment of others) {
    if (segment.codes.length === 0) continue
    const found = indexOfSegment(segment, codes, at, end)
    if (found < 0) return false
    at = found + segment.codes.length
  }
  return true
}

/** The faster variant for segments without `?`. */
function matchesPieces(pieces: readonly string[], text: string): boolean {
  const [first = '', ...others] = pieces
  const last = others.pop()
  if (last === undefined) return text === first
  const end = text.length - last.length
  let at = first.length
  if (at > end || !text.startsWith(first) || !text.endsWith(last)) return false
  for (const piece of others) {
    const found = text.indexOf(piece, at)
    if (found < 0 || found + piece.length > end) return false
    at = found + piece.length
  }
  return true
}

function matchesAt(segment: Segment, codes: readonly number[], at: number): boolean {
  return segment.codes.every((code, i) => code === mark || code === codes[at + i])
}

/**
 * The first place of a segment in `codes` between `from` and `to`, or -1. Uses the Shift-And algorithm: bit i says whether the text read so far ends with the
 * segment's first i + 1 characters. It costs at most a thirty-second of the product of both lengths, so the author of a policy can't slow down other requests.
 */
function indexOfSegment(segment: Segment, codes: readonly number[], from: number, to: number): number {
  const { length } = segment.codes
  if (length > to - from) return -1
  segment.masks ??= masksOf(segment)
  const { rows, ofAscii, ofOthers } = segment.masks
  const words = Math.ceil(length / 32)
  const lastBit = 1 << ((length - 1) & 31)
  const state = new Int32Array(words)
  let only = 0
  for (let at = from; at < to; at++) {
    const code = codes[at] ?? mark
    const row = code < asciiCodes ? (ofAscii[code] ?? 0) : (ofOthers.get(code) ?? 0)
    // Most segments have one word, and need no array.
    if (words === 1) {
      only = ((only << 1) | 1) & (rows[row] ?? 0)
      if ((only & lastBit) !== 0) return at - length + 1
      continue
    }
    let carry = 1
    for (let word = 0; word < words; word++) {
      const before = state[word] ?? 0
      state[word] = ((before << 1) | carry) & (rows[row * words + word] ?? 0)
      carry = before >>> 31
    }
    if (((state[words - 1] ?? 0) & lastBit) !== 0) return at - length + 1
  }
  return -1
}

const asciiCodes = 128

/** Bit masks of the positions at which a segment takes a character. */
interface Masks {
  /** One mask after the other, of as many words each as the segment needs. The first one is that of characters that the segment does not name: the positions of `?`. */
  readonly rows: Int32Array
  /** The number of a character's mask. */
  readonly ofAscii: Uint16Array
  readonly ofOthers: ReadonlyMap<number, number>
}

function masksOf({ codes }: Segment): Masks {
  const words = Math.ceil(codes.length / 32)
  const named = [...new Set(codes.filter((code) => code !== mark))]
  const ofAscii = new Uint16Array(asciiCodes)
  const ofOthers = new Map<number, number>()
  named.forEach((code, i) => {
    if (code < asciiCodes) ofAscii[code] = i + 1
    else ofOthers.set(code, i + 1)
  })
  const rows = new Int32Array((named.length + 1) * words)
  const take = (row: number, i: number): void => {
    const word = row * words + (i >>> 5)
    rows[word] = (rows[word] ?? 0) | (1 << (i & 31))
  }
  codes.forEach((code, i) => {
    if (code === mark) take(0, i)
  })
  for (let row = 1; row <= named.length; row++) rows.copyWithin(row * words, 0, words)
  codes.forEach((code, i) => {
    if (code !== mark) take(code < asciiCodes ? (ofAscii[code] ?? 0) : (ofOthers.get(code) ?? 0), i)
  })
  return { rows, ofAscii, ofOthers }
}

/** Whether the pattern matches any text that starts with `start`. A variable counts as a star, and a star takes what is left of `start`, so only what stands before counts. */
export function canStartWith(tokens: readonly PatternToken[], start: string): boolean {
  const open = tokens.findIndex(({ kind }) => kind === 'any' || kind === 'variable')
  const [fixed = []] = splitAtStars(open < 0 ? tokens : tokens.slice(0, open))
  const { codes } = segmentOf(fixed, noValues) ?? nothing
  const wanted = codePointsOf(start)
  if (open < 0 && codes.length < wanted.length) return false
  return wanted.every((code, i) => i >= codes.length || codes[i] === mark || codes[i] === code)
}
