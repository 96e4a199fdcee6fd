/** Patterns of policies: `*` stands for any characters, `?` for one, `${key}` for a value of the request. Knows no policy. */

export type PatternToken =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'any' }
  | { readonly kind: 'one' }
  | { readonly kind: 'variable'; readonly key: string; readonly fallback: string | undefined }

/** Says a value of the request; `undefined` where it has none, or several. */
export type Lookup = (key: string) => string | undefined

export class PatternError extends Error {}

/**
 * Variables count only where the policy's version has them. Wildcards count in resources and in `Like` operators.
 * @throws PatternError on a variable that does not end.
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
    if (options.wildcards && char === '*') push({ kind: 'any' })
    else if (options.wildcards && char === '?') push({ kind: 'one' })
    else if (options.variables && char === '$' && text[at + 1] === '{') {
      const end = text.indexOf('}', at + 2)
      if (end < 0) throw new PatternError('a policy variable does not end')
      const inside = text.slice(at + 2, end)
      // How a policy spells these three where they would mean something else.
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

/** The text that the tokens stand for. `undefined` if a variable has no value; then nothing matches. Wildcards are kept as they are written. */
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

/** Whether all of a text matches. The value of a variable stands for itself: a star in it is a star. */
export function compileGlob(tokens: readonly PatternToken[]): GlobMatcher {
  if (hasVariable(tokens)) {
    return (text, lookup) => {
      const units = unitsOf(tokens, lookup)
      return units !== undefined && matchesUnits(units, text)
    }
  }
  const [first, second] = tokens
  if (first === undefined) return (text) => text === ''
  if (second === undefined && first.kind === 'any') return () => true
  if (second === undefined && first.kind === 'text') return (text) => text === first.text
  if (tokens.length === 2 && first.kind === 'text' && second?.kind === 'any')
    return (text) => text.startsWith(first.text)
  const units = unitsOf(tokens, () => undefined) ?? []
  return (text) => matchesUnits(units, text)
}

const starUnit = -1
const markUnit = -2

/** UTF-16 units, and the two wildcards. */
function unitsOf(tokens: readonly PatternToken[], lookup: Lookup): number[] | undefined {
  const units: number[] = []
  for (const token of tokens) {
    if (token.kind === 'any') {
      if (units.at(-1) !== starUnit) units.push(starUnit)
      continue
    }
    if (token.kind === 'one') {
      units.push(markUnit)
      continue
    }
    const text = token.kind === 'text' ? token.text : (lookup(token.key) ?? token.fallback)
    if (text === undefined) return undefined
    for (let i = 0; i < text.length; i++) units.push(text.charCodeAt(i))
  }
  return units
}

/** Goes back to the last star alone, so it costs at most the product of both lengths, whatever the pattern. */
function matchesUnits(units: readonly number[], text: string): boolean {
  let at = 0
  let unit = 0
  let star = -1
  let starAt = 0
  while (at < text.length) {
    const wanted = units[unit]
    if (wanted === starUnit) {
      star = unit++
      starAt = at
    } else if (wanted === markUnit || wanted === text.charCodeAt(at)) {
      at += wanted === markUnit ? charLength(text, at) : 1
      unit++
    } else if (star < 0) return false
    else {
      starAt += charLength(text, starAt)
      at = starAt
      unit = star + 1
    }
  }
  while (units[unit] === starUnit) unit++
  return unit === units.length
}

/** A character beyond the first 65,536 is two units, and one to `?`. */
function charLength(text: string, at: number): 1 | 2 {
  const lead = text.charCodeAt(at)
  if (lead < 0xd800 || lead > 0xdbff) return 1
  const trail = text.charCodeAt(at + 1)
  return trail >= 0xdc00 && trail <= 0xdfff ? 2 : 1
}

/** Whether some text that starts with `start` matches. A variable can stand for anything. */
export function canStartWith(tokens: readonly PatternToken[], start: string): boolean {
  const units: number[] = []
  for (const token of tokens) {
    if (token.kind === 'text') for (const char of token.text) units.push(...unitsOfText(char))
    else units.push(token.kind === 'one' ? markUnit : starUnit)
  }
  let states = closure(units, new Set([0]))
  for (let at = 0; at < start.length; at++) {
    const next = new Set<number>()
    for (const state of states) {
      if (units[state] === starUnit) next.add(state)
      else if (units[state] === markUnit || units[state] === start.charCodeAt(at)) next.add(state + 1)
    }
    if (next.size === 0) return false
    states = closure(units, next)
  }
  return true
}

function unitsOfText(char: string): number[] {
  return Array.from({ length: char.length }, (_, i) => char.charCodeAt(i))
}

/** A star may stand for nothing. */
function closure(units: readonly number[], states: Set<number>): Set<number> {
  // A set that grows is walked to its new end.
  for (const state of states) if (units[state] === starUnit) states.add(state + 1)
  return states
}
